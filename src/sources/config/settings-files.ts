/** Names of settings files that projects have. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Detection, ProjectFolder } from "../../source.ts";

export const composeFiles = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"];
export const exampleFiles = [".env.example", ".env.sample", ".env.template"];

/** Later entries take precedence, as in most programs. */
const settingsFiles = [
  ...composeFiles,
  ...["json", "yaml", "yml", "toml", "ini"].flatMap((ending) => [`config.${ending}`, `settings.${ending}`]),
  ...["default", "production", "local"].flatMap((name) =>
    ["json", "yaml", "yml", "toml"].map((ending) => `config/${name}.${ending}`),
  ),
  "application.properties",
  "application.yml",
  "src/main/resources/application.properties",
  "src/main/resources/application.yml",
  ".env",
  ".env.local",
];

/** All settings files form one mount, because two would have the same URIs. */
export function detectSettings({ path }: ProjectFolder): Detection[] {
  const isThere = (name: string) => existsSync(join(path, name));
  const files = settingsFiles.filter(isThere);
  // Example files show that settings exist, but are not settings.
  const where = [...files, ...exampleFiles.filter(isThere)].join(", ");
  return where === "" ? [] : [{ what: "settings", where, values: { root: ".", ...(files.length > 0 && { files }) } }];
}
