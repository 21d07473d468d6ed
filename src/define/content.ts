/** What a function of a small server returns, as parts of a resource. */
import { notFound, ResourceError, unavailable } from "../errors.ts";
import type { Body, Call } from "../resources.ts";
import type { Part } from "../source.ts";

/** A text, bytes, or either with metadata; `json` becomes its text. */
export type DefinedContent = string | Uint8Array | (DefinedBody & Pick<Part, "mimeType" | "meta" | "freshness">);

export type DefinedBody = Body | { readonly json: unknown };

function toPart(content: DefinedContent, what: string, mimeType: string | undefined): Part {
  if (typeof content === "string") return toPart({ text: content }, what, mimeType);
  if (content instanceof Uint8Array) return toPart({ bytes: content }, what, mimeType);
  const { meta, freshness } = content;
  const body = toBody(content, what);
  const usual = "json" in content ? "application/json" : "text" in body ? "text/plain" : "application/octet-stream";
  const type = content.mimeType ?? mimeType ?? usual;
  return { body, mimeType: type, ...(meta && { meta }), ...(freshness && { freshness }) };
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

/** Undefined means that there is no such resource. */
export async function readDefined(
  { what, path, mimeType }: { readonly what: string; readonly path: string; readonly mimeType: string | undefined },
  call: Call,
  read: () => DefinedContent | undefined | Promise<DefinedContent | undefined>,
): Promise<readonly Part[]> {
  return runDefined(what, call, async () => {
    const content = await read();
    if (content === undefined) throw notFound(path);
    return [toPart(content, what, mimeType)];
  });
}
