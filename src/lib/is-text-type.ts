/** Tells text from other content by its type, without the table of types; also in a browser. */

const textTypes = new Set([
  "application/json",
  "application/json5",
  "application/jsonc",
  "application/jsonl",
  "application/yaml",
  "application/toml",
  "application/xml",
  "application/sql",
  "application/graphql",
  "application/javascript",
  "application/x-sh",
  "application/rtf",
  "message/rfc822",
]);

/** Whether content of this type is text. Parameters do not matter. */
export function isTextType(type: string): boolean {
  const semicolon = type.indexOf(";");
  const bare = (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase();
  return bare.startsWith("text/") || textTypes.has(bare) || /\+(?:json|xml|yaml)$/.test(bare);
}
