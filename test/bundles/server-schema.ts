/**
 * The rules of `server.json` of 2025-12-11 for what ours contains, as a JSON schema: a local package, without remotes. Unknown keys are refused, which the
 * original allows, so that a misspelt one is found.
 * https://github.com/modelcontextprotocol/registry/blob/main/docs/reference/server-json/generic-server-json.md
 */
const text = { type: "string", minLength: 1 } as const;
const exactVersion = {
  type: "string",
  maxLength: 255,
  pattern: String.raw`^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$`,
} as const;

function closed(required: readonly string[], properties: Readonly<Record<string, object>>): object {
  return { type: "object", additionalProperties: false, required, properties };
}

const positional = {
  ...closed(["type"], {
    type: { const: "positional" },
    value: text,
    valueHint: text,
    description: text,
    format: { enum: ["string", "number", "boolean", "filepath"] },
    isRequired: { type: "boolean" },
    isRepeated: { type: "boolean" },
  }),
  anyOf: [{ required: ["value"] }, { required: ["valueHint"] }],
};

const npmPackage = closed(["registryType", "identifier", "version", "transport"], {
  registryType: { const: "npm" },
  identifier: text,
  version: exactVersion,
  runtimeHint: { enum: ["npx"] },
  transport: closed(["type"], { type: { const: "stdio" } }),
  packageArguments: { type: "array", items: positional },
});

export const serverSchema = closed(["$schema", "name", "description", "version", "packages"], {
  $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json" },
  name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
  title: { type: "string", minLength: 1, maxLength: 100 },
  description: { type: "string", minLength: 1, maxLength: 100 },
  version: exactVersion,
  repository: closed(["url", "source"], { url: { type: "string", format: "uri" }, source: { const: "github" } }),
  packages: { type: "array", items: npmPackage },
});
