/** The input of a tool: its zod schema, and the JSON Schema that clients see. */
import type { z } from "zod";
import { quote, ResourceError } from "../errors.ts";
import { isRecord, kindOf } from "./check-definition.ts";
import type { DefinedTool } from "./tool.ts";

type JsonSchema = Readonly<Record<string, unknown>>;

export interface ToolInput {
  readonly schema: z.ZodType;
  readonly inputSchema: JsonSchema;
}

/** Throws "invalid" with the name of the tool. */
export function createToolInput(name: string, input: DefinedTool["input"], zod: typeof z): ToolInput {
  const schema = attempt(name, () => (typeof input === "function" ? input(zod) : (input ?? zod.object({}))));
  if (!isSchema(schema)) throw wrongInput(name, kindOf(schema));
  const { $schema: _, ...inputSchema } = attempt(name, () =>
    zod.toJSONSchema(schema, { io: "input", unrepresentable: "any" }),
  );
  if (!isObjectSchema(inputSchema, inputSchema)) throw wrongInput(name, "a schema of something else");
  // The specification requires the type, which the schema of a union does not have.
  return { schema, inputSchema: { ...inputSchema, type: "object" } };
}

/** Of zod 4: an earlier one has no JSON Schema. */
export function isSchema(value: unknown): value is z.ZodType {
  return isRecord(value) && isRecord(value["_zod"]) && typeof value["safeParse"] === "function";
}

export function wrongInput(name: string, kind: string, cause?: unknown): ResourceError {
  const message = `the input of the tool ${quote(name)} is ${kind}; it must be an object of zod 4: write (z) => z.object({ … })`;
  return new ResourceError("invalid", message, { cause });
}

function attempt<T>(name: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new ResourceError("invalid", `the input of the tool ${quote(name)} cannot be made: ${why}`, { cause });
  }
}

const maxDepth = 20;

/** Whether only objects match: also a union of objects. */
function isObjectSchema(schema: unknown, whole: JsonSchema, depth = 0): boolean {
  // A union may contain itself.
  if (!isRecord(schema) || depth > maxDepth) return false;
  if (schema["type"] !== undefined) return schema["type"] === "object";
  const { $ref, oneOf, anyOf, allOf } = schema;
  if (typeof $ref === "string") return isObjectSchema(referred($ref, whole), whole, depth + 1);
  const isObject = (each: unknown) => isObjectSchema(each, whole, depth + 1);
  if (Array.isArray(allOf)) return allOf.some(isObject);
  const members = oneOf ?? anyOf;
  return Array.isArray(members) && members.length > 0 && members.every(isObject);
}

/** zod names shared schemas `#/$defs/<name>`. Any other reference is to the whole, which is being examined. */
function referred($ref: string, { $defs }: JsonSchema): unknown {
  const name = $ref.startsWith("#/$defs/") ? $ref.slice("#/$defs/".length) : undefined;
  return name !== undefined && isRecord($defs) ? $defs[name] : undefined;
}
