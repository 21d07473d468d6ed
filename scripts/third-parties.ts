/** Collects the licence notices of packages in the bundles. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "rolldown";

const folders = new Set<string>();

/** Records a package whose data end up in `dist`. */
export function recordThirdParty(folder: string): void {
  folders.add(folder);
}

/** Records the packages that end up in a bundle. */
export const thirdParties: Plugin = {
  name: "third-parties",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
    for (const id of chunks.flatMap(({ moduleIds }) => moduleIds)) {
      const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];
      if (folder !== undefined) folders.add(folder);
    }
  },
};

/** Notices of all recorded packages. Throws if a package has no licence. */
export async function noticesOfThirdParties(): Promise<string> {
  const notices = await Promise.all([...folders].sort().map(noticeOf));
  return `The files in this folder contain code of these packages.\n\n${notices.join("\n\n")}\n`;
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  if (license === undefined) throw new Error(`${name} has no licence in its package.json`);
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each));
  const text = file === undefined ? "" : `\n\n${(await readFile(join(folder, file), "utf8")).trim()}`;
  return `## ${name} ${version} (${license})${text}`;
}
