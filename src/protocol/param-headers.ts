/**
 * Checks that the HTTP headers of a call repeat those arguments that the tool's schema marks with `x-mcp-header`: a proxy may have chosen
 * the server by the header, and the tool acts on the argument.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import { decodeHeader } from "./decode-header.ts";
import { codes, isJsonObject, member, ProtocolError } from "./message.ts";
import type { HeaderLookup } from "./protocol.ts";

export function checkParamHeaders(schema: unknown, args: unknown, headers: HeaderLookup): void {
  const properties = member(schema, "properties");
  if (!isJsonObject(properties)) return;
  for (const [key, property] of Object.entries(properties)) {
    const name = member(property, "x-mcp-header");
    const value = member(args, key);
    if (typeof name === "string") checkParam(`Mcp-Param-${name}`, value, headers.param?.(name));
    checkParamHeaders(property, value, headers);
  }
}

function checkParam(header: string, value: unknown, sent: string | undefined): void {
  if (sent === undefined && !isRepeated(value)) return;
  if (sent === undefined) throw mismatch(`the header ${header} is missing`);
  const text = decodeHeader(sent);
  if (text === undefined) throw mismatch(`the header ${header} is not valid base64`);
  const isSame = typeof value === "number" ? decimal.test(text) && Number(text) === value : text === textOf(value);
  if (!isSame) throw mismatch(`the header ${header} and the argument differ`);
}

const decimal = /^-?\d+(?:\.\d+)?$/;

/** Clients send no header for null, nor for a number that may have lost digits. */
function isRepeated(value: unknown): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return textOf(value) !== undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "boolean" ? String(value) : undefined;
}

function mismatch(message: string): ProtocolError {
  return new ProtocolError(codes.headerMismatch, message, { status: 400 });
}
