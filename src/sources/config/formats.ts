/** Selects the format of a configuration file, and parses it. */
import type { ConfigValue } from "./leaf.ts";

export const configFormats = ["dotenv", "json", "yaml", "toml", "ini", "properties"] as const;
export type ConfigFormat = (typeof configFormats)[number];

const endings: Readonly<Record<string, ConfigFormat>> = {
  env: "dotenv",
  json: "json",
  jsonc: "json",
  yaml: "yaml",
  yml: "yaml",
  toml: "toml",
  ini: "ini",
  cfg: "ini",
  conf: "ini",
  cnf: "ini",
  properties: "properties",
};

/** By the file name; undefined if that does not show the format. */
export function configFormatOf(path: string): ConfigFormat | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  if (/^\.env(?:$|[.-])/.test(name)) return "dotenv";
  const ending = name.slice(name.lastIndexOf(".")).slice(1);
  return name.includes(".") && Object.hasOwn(endings, ending) ? endings[ending] : undefined;
}

/** Throws a FormatError if the text is not in this format. */
export async function parse(text: string, format: ConfigFormat): Promise<readonly ConfigValue[]> {
  switch (format) {
    case "json":
      return (await import("./parse-json.ts")).parseJsonConfig(text);
    case "yaml":
      return (await import("./parse-yaml.ts")).parseYaml(text);
    case "toml":
      return (await import("./parse-toml.ts")).parseToml(text);
    case "dotenv":
      return (await import("./parse-lines.ts")).parseDotenv(text);
    case "ini":
      return (await import("./parse-lines.ts")).parseIni(text);
    case "properties":
      return (await import("./parse-lines.ts")).parseProperties(text);
  }
}
