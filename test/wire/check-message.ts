/** Holds every message that the server sends against the schema of the revision it was sent in. */
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { isRecord, type JsonRecord } from "./json.ts";
import { loadSchemas, type Revision, type RevisionSchema } from "./schemas.ts";

const schemas = await loadSchemas();
const validators = new Map<string, ValidateFunction>();
const compilers = new Map([...schemas].map(([revision, { dialect, schema }]) => [revision, compiler(dialect, schema)]));

/** Throws, naming everything that is wrong with the message. `requestMethod` is what a result answers. */
export function checkMessage(revision: Revision, message: unknown, requestMethod?: string): void {
  const problems = problemsWith(revision, message, requestMethod);
  if (problems.length === 0) return;
  throw new Error(
    `no message of ${revision}${requestMethod ? `, as an answer to ${requestMethod}` : ""}:\n  ${problems.join("\n  ")}\n  in ${JSON.stringify(message)?.slice(0, 2000)}`,
  );
}

export function problemsWith(revision: Revision, message: unknown, requestMethod?: string): string[] {
  const schema = schemas.get(revision);
  if (!schema) return [`unknown revision ${revision}`];
  if (!isRecord(message)) return ["a message is an object"];
  const foreign = revision === "2026-07-28" ? [] : modernKeysIn(message);
  if ("method" in message && "id" in message) return [...foreign, ...problemsWithRequest(schema, message)];
  if ("method" in message) return [...foreign, ...problemsWithNotification(schema, message)];
  if ("error" in message) return [...foreign, ...problemsWithError(schema, message)];
  if (requestMethod === undefined) return ["this result answers nothing that was asked"];
  return [...foreign, ...problemsWithResult(schema, message, requestMethod)];
}

/** What a server may request from the client of a session. */
const serverRequests = ["elicitation/create", "sampling/createMessage", "roots/list"];

function problemsWithRequest(schema: RevisionSchema, message: JsonRecord): string[] {
  const method = String(message["method"]);
  const isAllowed = schema.revision !== "2026-07-28" && serverRequests.includes(method);
  const name = isAllowed ? definitionOf(schema, method, "Request") : undefined;
  return name ? problemsBy(schema, name, message) : [`a server of ${schema.revision} may not request ${method}`];
}

function problemsWithNotification(schema: RevisionSchema, message: JsonRecord): string[] {
  const method = String(message["method"]);
  const name = definitionOf(schema, method, "Notification");
  return name ? problemsBy(schema, name, message) : [`${schema.revision} knows no notification ${method}`];
}

function problemsWithResult(schema: RevisionSchema, message: JsonRecord, method: string): string[] {
  const envelope = "JSONRPCResultResponse" in schema.definitions ? "JSONRPCResultResponse" : "JSONRPCResponse";
  const asked = definitionOf(schema, method, "Request");
  if (!asked) return [`${schema.revision} knows no request ${method}, and yet it was answered with a result`];
  const result = message["result"];
  const wanted =
    isRecord(result) && result["resultType"] === "input_required"
      ? "InputRequiredResult"
      : asked.replace(/Request$/, "Result");
  const name = wanted in schema.definitions ? wanted : "EmptyResult";
  return [...problemsBy(schema, envelope, message), ...problemsBy(schema, name, result)];
}

/** Codes with a meaning in every revision: JSON-RPC's own. */
const common = [-32700, -32600, -32601, -32602, -32603];
const modernErrors = new Map([
  [-32020, "HeaderMismatchError"],
  [-32021, "MissingRequiredClientCapabilityError"],
  [-32022, "UnsupportedProtocolVersionError"],
]);

function problemsWithError(schema: RevisionSchema, message: JsonRecord): string[] {
  const modern = schema.revision === "2026-07-28";
  const error = message["error"];
  const code = isRecord(error) ? Number(error["code"]) : Number.NaN;
  // JSON-RPC asks for a null where the request's id could not be read; the schemas leave it out.
  const unread = message["id"] === null;
  const envelope = "JSONRPCErrorResponse" in schema.definitions ? "JSONRPCErrorResponse" : "JSONRPCError";
  const problems = problemsBy(schema, envelope, unread ? { ...message, id: 0 } : message);
  const special = modern ? modernErrors.get(code) : undefined;
  if (special) problems.push(...problemsBy(schema, special, unread ? { ...message, id: 0 } : message));
  if (!mayBeSent(code, modern)) problems.push(`the error code ${code} is not one of ${schema.revision}`);
  return problems;
}

function mayBeSent(code: number, modern: boolean): boolean {
  if (common.includes(code) || code < -32768 || code > -32000) return true;
  // Before 2026-07-28: a missing resource, and the code that servers use for what concerns the connection alone.
  return modern ? modernErrors.has(code) : code === -32002 || code === -32001 || code === -32000;
}

/** The name of the definition of this kind whose method is this one. */
function definitionOf(schema: RevisionSchema, method: string, kind: "Request" | "Notification"): string | undefined {
  return Object.entries(schema.definitions).find(([name, definition]) => {
    if (!name.endsWith(kind) || !isRecord(definition) || !isRecord(definition["properties"])) return false;
    const { method: known } = definition["properties"];
    return isRecord(known) && known["const"] === method;
  })?.[0];
}

function problemsBy(schema: RevisionSchema, definition: string, value: unknown): string[] {
  const validate = validatorOf(schema, definition);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = "additionalProperty" in params ? ` (${String(params["additionalProperty"])})` : "";
    return `${definition}${instancePath}: ${message}${extra}`;
  });
}

function validatorOf({ revision, base }: RevisionSchema, definition: string): ValidateFunction {
  const key = `${revision} ${definition}`;
  const known = validators.get(key);
  if (known) return known;
  const compiled = compilers.get(revision)?.getSchema(`revision${base}${definition}`);
  if (!compiled) throw new Error(`${revision} has no definition ${definition}`);
  validators.set(key, compiled);
  return compiled;
}

function compiler(dialect: RevisionSchema["dialect"], schema: JsonRecord): Ajv {
  const options = { strict: false, allErrors: true } as const;
  const ajv = dialect === "2020-12" ? new Ajv2020(options) : new Ajv(options);
  formats.default(ajv);
  return ajv.addSchema(schema, "revision");
}

/** Keys that 2026-07-28 brought, wherever they stand. */
function modernKeysIn(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => modernKeysIn(item, `${path}/${index}`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key.startsWith("io.modelcontextprotocol/") ? [`${path}/${key} came with 2026-07-28`] : []),
    ...modernKeysIn(inner, `${path}/${key}`),
  ]);
}
