/** Validates parameters of requests, without a validation library on the hot path. */
import { invalid, quote } from "../errors.ts";
import { isJsonObject, member, type RequestParams } from "./message.ts";

const maxUriLength = 64 * 1024;
const maxCursorLength = 64 * 1024;
const maxNameLength = 1024;
const maxValueLength = 16 * 1024;

function text(params: RequestParams | undefined, name: string, maxLength: number): string {
  const value = member(params, name);
  if (typeof value !== "string") throw invalid(`"${name}" is missing or not a string`);
  if (value.length > maxLength) throw invalid(`"${name}" is longer than ${maxLength} characters`);
  return value;
}

/** Requires a scheme; whether the resource exists is decided later. */
export function uriOf(params: RequestParams | undefined, name = "uri"): string {
  const uri = text(params, name, maxUriLength);
  if (!hasScheme(uri))
    throw invalid(`${quote(uri)} is not a URI: it has no scheme`, { uri: shown(uri), reason: "invalid-uri" });
  return uri;
}

function hasScheme(uri: string): boolean {
  for (let i = 0; i < uri.length; i++) {
    const c = uri.charCodeAt(i);
    if (c === 58) return i > 0;
    const isLetter = (c | 32) >= 97 && (c | 32) <= 122;
    const isOther = (c >= 48 && c <= 57) || c === 43 || c === 45 || c === 46;
    if (!isLetter && (i === 0 || !isOther)) return false;
  }
  return false;
}

/** A URI for errors: never a huge one. */
export function shown(uri: string): string | undefined {
  return uri.length <= 2048 && JSON.stringify(uri).length <= 3072 ? uri : undefined;
}

export function cursorOf(params: RequestParams | undefined): { cursor?: string } {
  if (member(params, "cursor") === undefined) return {};
  return { cursor: text(params, "cursor", maxCursorLength) };
}

export function nameParam(params: RequestParams | undefined): string {
  return text(params, "name", maxNameLength);
}

export function valueParam(params: RequestParams | undefined): string {
  return text(params, "value", maxValueLength);
}

export function recordOf(params: RequestParams | undefined, name: string): RequestParams {
  const value = member(params, name);
  if (!isJsonObject(value)) throw invalid(`"${name}" is missing or not an object`);
  return value;
}

/** An object of strings, or undefined. */
export function stringsOf(params: RequestParams | undefined, name: string): Record<string, string> {
  const strings: Record<string, string> = Object.create(null) as Record<string, string>;
  if (member(params, name) === undefined) return strings;
  for (const [key, value] of Object.entries(recordOf(params, name))) {
    if (typeof value !== "string") throw invalid(`"${name}" may contain only strings`);
    strings[key] = value;
  }
  return strings;
}

export function flagOf(params: RequestParams | undefined, name: string): boolean {
  const value = member(params, name);
  if (value !== undefined && typeof value !== "boolean") throw invalid(`"${name}" must be true or false`);
  return value === true;
}

export function urisOf(params: RequestParams | undefined, name: string, most: number): string[] {
  const value = member(params, name);
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid(`"${name}" must be a list of URIs`);
  if (value.length > most) throw invalid(`"${name}" contains more than ${most} URIs; open several listens`);
  return value.map((uri: unknown) => {
    if (typeof uri !== "string" || uri.length > maxUriLength) throw invalid(`"${name}" may contain only URIs`);
    return uri;
  });
}
