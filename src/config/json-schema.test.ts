import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { configJsonSchema } from "./json-schema.ts";
import { withTables } from "./reference.ts";

const docs = join(import.meta.dirname, "../../docs");
const schema = JSON.parse(readFileSync(join(docs, "pressmark.schema.json"), "utf8")) as object;
const validate = new Ajv({ strict: false, formats: { path: true, base64: true } }).compile(schema);

describe("the schema for editors", () => {
  it("is what the declarations say; npm run docs writes it", async () => {
    expect(schema).toEqual(JSON.parse(JSON.stringify(await configJsonSchema())));
  });

  it.each([
    {},
    { $schema: "./x.json", mounts: { a: { source: "file", root: "." } } },
    { mounts: { a: { source: "file", root: ".", maxBytes: 10, scheme: "docs", limits: { timeoutMs: 5 } } } },
    { mounts: { a: { source: "file", root: "${env:HOME}/x", maxBytes: "${env:MAX}" } } },
    { mounts: { m: { source: "memory", resources: { a: "text", b: { text: "x", annotations: { priority: 1 } } } } } },
    { mounts: { a: { source: "./weather.ts", city: "札幌" }, b: { source: "pressmark-source-redis", url: "x" } } },
    { mounts: { a: { source: "@acme/tools" }, b: { source: "tools/sources/tickets" } } },
    { server: { host: "127.0.0.1", port: "${env:PORT:-7357}", allowedHosts: ["a"] }, limits: { maxAtOnce: 1 } },
  ])("takes what a config may say: %j", (config) => {
    expect([validate(config), validate.errors]).toEqual([true, null]);
  });

  it.each([
    { mount: {} },
    { mounts: {} },
    { mounts: { a: { root: "." } } },
    { mounts: { a: { source: "fiel", root: "." } } },
    { mounts: { a: { source: "file" } } },
    { mounts: { a: { source: "file", root: ".", rot: "x" } } },
    { mounts: { a: { source: "memory", root: "." } } },
    { server: { port: 65_536 } },
    { server: { port: "many" } },
    { limits: { timeoutMs: 0 } },
  ])("refuses what it may not: %j", (config) => {
    expect(validate(config)).toBe(false);
  });

  it("describes every key", () => {
    const bare: string[] = [];
    function visit(node: unknown, path: string): void {
      if (typeof node !== "object" || node === null) return;
      const { properties, ...rest } = node as { properties?: Record<string, { description?: string }> };
      for (const [key, value] of Object.entries(properties ?? {})) {
        if (!value.description && !path.includes("resources")) bare.push(`${path}.${key}`);
        visit(value, `${path}.${key}`);
      }
      for (const [key, value] of Object.entries(rest)) visit(value, `${path}.${key}`);
    }
    visit(schema, "");
    expect(bare).toEqual([]);
  });
});

it("the tables of the page on configuration are what the declarations say; npm run docs writes them", async () => {
  const page = readFileSync(join(docs, "configuration.md"), "utf8");
  expect(page).toBe(await withTables(page));
});
