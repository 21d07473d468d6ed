/** What a function of a small server returns, as parts of a resource. */
import { notFound, ResourceError, unavailable } from "../errors.ts";
import type { Body, Call } from "../resources.ts";
import type { Part, Suggestion } from "../source.ts";
import { isRecord, kindOf } from "./check-definition.ts";

/** A text, bytes, or either with metadata; `json` becomes its text. */
export type DefinedContent = string | Uint8Array | (DefinedBody & Pick<Part, "mimeType" | "meta" | "freshness">);

export type DefinedBody = Body | { readonly json: unknown };

const contentForms = "a text, bytes, { text }, { bytes } or { json }";

function toPart(content: DefinedContent, what: string, mimeType: string | undefined): Part {
  if (typeof content === "string") return toPart({ text: content }, what, mimeType);
  if (content instanceof Uint8Array) return toPart({ bytes: content }, what, mimeType);
  const { meta, freshness } = content;
  const body = toBody(content, what);
  const usual = "json" in content ? "application/json" : "text" in body ? "text/plain" : "application/octet-stream";
  const type = content.mimeType ?? mimeType ?? usual;
  return { body, mimeType: type, ...(meta && { meta }), ...(freshness && { freshness }) };
}

/** Says what a value is that is no content; undefined for content. */
export function contentProblem(content: unknown): string | undefined {
  if (typeof content === "string" || content instanceof Uint8Array) return undefined;
  if (!isRecord(content)) return kindOf(content);
  const { mimeType, text, bytes } = content;
  if (mimeType !== undefined && typeof mimeType !== "string")
    return `an object whose "mimeType" is ${kindOf(mimeType)}`;
  if ("json" in content || typeof text === "string" || bytes instanceof Uint8Array) return undefined;
  if ("text" in content) return `an object whose "text" is ${kindOf(text)}`;
  return "bytes" in content ? `an object whose "bytes" is ${kindOf(bytes)}` : kindOf(content);
}

/** Throws if the value cannot be written as JSON: a fault of the program. */
export function toBody(content: DefinedBody, what: string): Body {
  if ("json" in content) return { text: toJson(content.json, what) };
  return "text" in content ? { text: content.text } : { bytes: content.bytes };
}

export function toJson(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, undefined, 2);
  } catch (cause) {
    throw new Error(`the "json" of ${what} cannot be written: ${(cause as Error).message}`, { cause });
  }
  if (text === undefined) throw new Error(`the "json" of ${what} is ${typeof value}, which JSON does not know`);
  return text;
}

/** A function of the program returned something else than it may. The message contains no value, so a caller may read it. */
export function wrongResult(what: string, kind: string, forms: string): ResourceError {
  return new ResourceError("unexpected", `${what} returned ${kind}; return ${forms}`);
}

/** Runs a function of the program. Its ResourceErrors reach the caller; of other errors, only the log gets the text. */
export async function runDefined<T>(what: string, call: Call, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (cause instanceof ResourceError || call.signal.aborted) throw cause;
    if (cause instanceof Error && cause.name === "TimeoutError")
      throw unavailable(`${what} took too long; try again later`, cause);
    throw new ResourceError("unexpected", `${what} failed; the server's log has the cause`, { cause });
  }
}

/** Undefined and null, which many databases return, mean that there is no such resource. */
export async function readDefined(
  { what, path, mimeType }: { readonly what: string; readonly path: string; readonly mimeType: string | undefined },
  call: Call,
  read: () => DefinedContent | null | undefined | Promise<DefinedContent | null | undefined>,
): Promise<readonly Part[]> {
  return runDefined(what, call, async () => {
    const content = await read();
    if (content === undefined || content === null) throw notFound(path);
    const problem = contentProblem(content);
    if (problem !== undefined) throw wrongResult(what, problem, `${contentForms}, or undefined if there is none`);
    return [toPart(content, what, mimeType)];
  });
}

/** Suggestions that a function of the program returned; none for undefined and null. */
export async function suggestDefined<T extends string | Suggestion>(
  what: string,
  call: Call,
  suggest: () => readonly T[] | null | undefined | Promise<readonly T[] | null | undefined>,
  isSuggestion = (each: unknown) => typeof each === "string" || (isRecord(each) && typeof each["value"] === "string"),
): Promise<readonly T[]> {
  return runDefined(what, call, async () => {
    const found: unknown = (await suggest()) ?? [];
    if (!Array.isArray(found)) throw wrongResult(what, kindOf(found), "a list of texts");
    const wrong = found.findIndex((each) => !isSuggestion(each));
    if (wrong >= 0) throw wrongResult(what, `a list with ${kindOf(found[wrong])}`, "a list of texts");
    return found;
  });
}
