/** Where the config is: one per folder, looked for upwards from where the person stands. */
import { statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { invalid, quote } from "../errors.ts";

export const configNames = [
  "pressmark.config.yaml",
  "pressmark.config.yml",
  "pressmark.config.json",
  "pressmark.config.ts",
] as const;

/** The config of this folder itself. Two in one folder throw "invalid": no one could say which counts. */
export function configIn(folder: string): string | undefined {
  const found = configNames.map((name) => join(folder, name)).filter(isFile);
  const [config, other] = found;
  if (config && other)
    throw invalid(
      `${quote(folder)} holds both ${basename(config)} and ${basename(other)}; keep one, or name one with --config`,
    );
  return config;
}

/** The nearest config at or above this folder, up to the person's own folder or the root. */
export function findConfig(from: string, home: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const config = configIn(folder);
    if (config || folder === home || folder === dirname(folder)) return config;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch {
    // A folder that may not be looked into holds no config for us.
    return false;
  }
}
