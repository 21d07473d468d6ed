/** Reads files of this package: from the disk, or from the single executable, which contains them under paths below its own. */
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { packageFolder } from "./package-folder.ts";

/** The part of package.json that is used. */
interface PackageManifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly peerDependencies: Readonly<Record<string, string>>;
}

export async function readManifest(): Promise<PackageManifest> {
  return JSON.parse((await readPackageFile(join(packageFolder(), "package.json"))).toString("utf8")) as PackageManifest;
}

export async function readPackageFile(file: string): Promise<Buffer> {
  const key = embeddedKey(file);
  return key === undefined ? readFile(file) : Buffer.from(sea().getAsset(key));
}

export async function listPackageFiles(folder: string): Promise<readonly string[]> {
  const key = embeddedKey(folder);
  if (key === undefined) return readdir(folder);
  const below = `${key}/`;
  return sea()
    .getAssetKeys()
    .filter((name) => name.startsWith(below))
    .map((name) => name.slice(below.length));
}

/** Undefined for a file on the disk. */
function embeddedKey(file: string): string | undefined {
  const below = process.execPath + sep;
  return file.startsWith(below) ? file.slice(below.length).replaceAll(sep, "/") : undefined;
}

function sea(): typeof import("node:sea") {
  return process.getBuiltinModule("node:sea");
}
