/** Checks whether settings that one mount masks can be read through another mount of the same folder. */
import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import type { MountConfig } from "../config/config.ts";
import { type ConfigOrigin, loadConfig } from "../config/load-config.ts";
import { stateFolder, systemPathsOf } from "../lib/system-paths.ts";
import type { Call } from "../resources.ts";
import type { Source } from "../source.ts";
import type { ConfigOptions } from "../sources/config.ts";
import { createFacts } from "../sources/config/facts.ts";
import { openFiles } from "../sources/config/files.ts";
import { type ConfigFormat, configFormatOf } from "../sources/config/formats.ts";
import { type SecretSetting, secretSettings } from "../sources/config/secret-settings.ts";
import type { CheckResult } from "./examine.ts";

interface OpenMount {
  readonly name: string;
  readonly source: Source;
}

/** A settings file with the secrets that its mount masks. */
interface MaskedFile {
  /** The mount that masks them. */
  readonly mount: string;
  /** Absolute. */
  readonly file: string;
  readonly path: string;
  readonly secrets: readonly SecretSetting[];
}

/** Number of files named per mount. */
const mostNamed = 5;

export async function examineMasked(
  origin: ConfigOrigin,
  world: { readonly from: string; readonly env: Readonly<Record<string, string | undefined>> },
  mounts: readonly OpenMount[],
  call: Call,
): Promise<CheckResult[]> {
  const { from, env } = world;
  const loaded = await loadConfig(origin, { from, env, stateFolder: stateFolder(systemPathsOf(env)) });
  if ("untrusted" in loaded) return [];
  const configs = loaded.config.mounts;
  const masked = (
    await Promise.all(configs.filter(({ definition }) => definition.name === "config").map(maskedIn))
  ).flat();
  if (masked.length === 0) return [];
  const findings = await Promise.all(
    configs.map(async (config) => {
      const open = mounts.find(({ name }) => name === config.name);
      return open && config.definition.name !== "config" ? examineOne(config, open.source, masked, call) : [];
    }),
  );
  return findings.flat();
}

async function maskedIn({ name, options }: MountConfig): Promise<MaskedFile[]> {
  const { root, files, show, maxBytes } = options as ConfigOptions;
  const named = files.map((file) =>
    typeof file === "string" ? { path: file, format: configFormatOf(file) as ConfigFormat } : file,
  );
  const opened = openFiles({ root, files: named, maxBytes });
  const facts = createFacts(show, new Uint8Array(32));
  const found = named.map(async (file): Promise<MaskedFile[]> => {
    // Missing or broken files are reported elsewhere.
    const leaves = await opened.read(file).catch(() => []);
    const secrets = secretSettings(leaves).filter(
      ({ name: setting, value, line }) => facts.of(setting, value, { file: file.path, line }).value === undefined,
    );
    return secrets.length === 0 ? [] : [{ mount: name, file: join(real(root), file.path), path: file.path, secrets }];
  });
  return (await Promise.all(found)).flat();
}

async function examineOne(
  { name, definition, options, redact }: MountConfig,
  source: Source,
  masked: readonly MaskedFile[],
  call: Call,
): Promise<CheckResult[]> {
  const readable: MaskedFile[] = [];
  for (const each of masked) {
    const texts = await Promise.all(
      addressesOf(each.file, definition.name, options).map((path) => textAt(source, path, call)),
    );
    const secrets = each.secrets.filter(({ value }) => texts.some((text) => holds(text, value)));
    if (secrets.length > 0) readable.push({ ...each, secrets });
  }
  if (readable.length === 0) return [];
  const places = readable.slice(0, mostNamed).map(({ path, secrets: [first] }) => `${path}:${first?.line ?? 1}`);
  const more = readable.length - places.length;
  const files = `${places.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  const maskers = [...new Set(readable.map(({ mount }) => mount))].join(" and ");
  const leaveOut = `exclude the file by listing it in .pressmarkignore`;
  return [
    {
      about: `mount ${name}`,
      state: "hint",
      says: `shows secrets that mount ${maskers} masks: ${files}`,
      advice: redact
        ? `redact does not recognise these values as secrets; ${leaveOut}`
        : `write redact: true below mounts.${name}, or ${leaveOut}`,
    },
  ];
}

/** Addresses where a mount could serve this file; empty if the file is not in its folder. */
function addressesOf(file: string, source: string, options: unknown): readonly string[] {
  const { root, roots = [] } = options as { readonly root?: unknown; readonly roots?: readonly unknown[] };
  return [root, ...roots].flatMap((folder) => {
    if (typeof folder !== "string") return [];
    const way = relative(real(folder), file);
    if (way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return [];
    const path = way.split(sep).join("/");
    return [source === "git" ? `blob/HEAD/${path}` : path];
  });
}

async function textAt(source: Source, path: string, call: Call): Promise<string> {
  try {
    const parts = await source.read({ path }, call);
    return parts.map(({ body }) => ("text" in body ? body.text : "")).join("\n");
  } catch {
    // The mount does not serve the file, or failed; failures are reported elsewhere.
    return "";
  }
}

/** A value of several lines may be indented. */
function holds(text: string, value: string): boolean {
  return value.split("\n").some((line) => line.trim().length > 5 && text.includes(line.trim()));
}

function real(folder: string): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}
