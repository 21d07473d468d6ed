/** Generates the JSON schema of a config for editors. */
import type { z } from "zod";
import { sources } from "../sources/index.ts";
import type { Registry } from "./find-source.ts";
import { configSchema, mountSchema } from "./schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** The draft with the best support in editors. */
const target = "draft-7";

export async function configJsonSchema(registry: Registry = sources): Promise<Json> {
  const { z: zod } = await import("zod");
  const whole = toJson(configSchema(zod), zod);
  const { mounts, ...properties } = whole["properties"] as Readonly<Record<string, Json>>;
  const kinds = await Promise.all(Object.keys(registry).map((name) => mountJson(name, registry, zod)));
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Pressmark's config",
    description: "pressmark.config.yaml, pressmark.config.yml or pressmark.config.json",
    type: "object",
    additionalProperties: false,
    properties: {
      ...(mayRefer(properties) as Json),
      mounts: {
        type: "object",
        description: mounts?.["description"],
        minProperties: 1,
        additionalProperties: { type: "object", required: ["source"], anyOf: [...kinds, ownMount] },
      },
    },
  };
}

async function mountJson(name: string, registry: Registry, zod: typeof z): Promise<Json> {
  const { default: definition } = await registry[name]!();
  const common = toJson(mountSchema(zod), zod)["properties"] as Json;
  const own = toJson(definition.options(zod), zod);
  return {
    type: "object",
    description: definition.summary,
    properties: {
      ...common,
      source: { const: name, description: definition.summary },
      ...(mayRefer(own["properties"] ?? {}) as Json),
      limits: mayRefer(common["limits"]),
      search: mayRefer(common["search"]),
      redact: mayRefer(common["redact"]),
      freshness: mayRefer(common["freshness"]),
    },
    required: ["source", ...((own["required"] as readonly string[] | undefined) ?? [])],
    additionalProperties: false,
  };
}

/** A custom source; its options are unknown here. */
const ownMount = {
  type: "object",
  description: "A custom source",
  properties: {
    source: {
      type: "string",
      // A file, a package by our convention, or a name that only a package can have.
      pattern: "^(\\.{0,2}/.*\\.[cm]?[jt]s|pressmark-source-[a-z0-9._-]+|@?[a-z0-9][a-z0-9._-]*/[\\w./-]+)$",
      description: "File or installed package that exports the source",
    },
  },
  required: ["source"],
};

function toJson(schema: z.ZodType, zod: typeof z): Json {
  return zod.toJSONSchema(schema, { io: "input", target, unrepresentable: "any" }) as Json;
}

const reference = { type: "string", pattern: "^\\$\\{(env|file):.+\\}$" };

/** Allows a reference wherever a number, boolean or choice is expected. */
function mayRefer(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(mayRefer);
  if (typeof node !== "object" || node === null) return node;
  const { description, default: initial, ...rest } = node as Json;
  const isChoice = ["integer", "number", "boolean"].includes(String(rest["type"])) || "enum" in rest;
  if (!isChoice || typeof rest["type"] !== "string")
    return Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, key === "default" ? value : mayRefer(value)]),
    );
  return { description, default: initial, anyOf: [rest, reference] };
}
