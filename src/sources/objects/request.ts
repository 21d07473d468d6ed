/** One request to a store: answered in time, or refused in words. */
import { quote, ResourceError } from "../../errors.ts";

export interface Requesting {
  /** Where the store is, as it may stand in an error. */
  readonly host: string;
  readonly timeoutMs: number;
}

/** The answer, whatever its status. No redirect is followed: it could lead anywhere. */
export async function send(request: Request, { host, timeoutMs }: Requesting, signal: AbortSignal): Promise<Response> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(request, { signal: AbortSignal.any([signal, late]), redirect: "manual" });
  } catch (cause) {
    if (signal.aborted) throw new ResourceError("cancelled", "the question was withdrawn", { cause });
    const why = late.aborted ? `did not answer within ${timeoutMs} ms` : `cannot be reached (${codeOf(cause)})`;
    throw new ResourceError("unavailable", `${quote(host)} ${why}`, { cause });
  }
}

/** The body. More than was agreed on is no answer. */
export async function take(response: Response, maxBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of response.body ?? []) {
      size += piece.length;
      if (size > maxBytes) break;
      pieces.push(piece);
    }
  } catch (cause) {
    throw new ResourceError("unavailable", "the store broke off in the middle", { cause });
  }
  if (size > maxBytes) throw new ResourceError("unavailable", "the store gave more than it said it would");
  return Buffer.concat(pieces);
}

/** What a status means where nothing more is known. */
export function refusalFor(status: number, host: string, said = ""): ResourceError {
  const at = quote(host);
  switch (status) {
    case 401:
      return new ResourceError("denied", `${at} does not accept the credentials; sign in again`);
    case 403:
      return new ResourceError("denied", `${at} refuses: the credentials may not read this`);
    case 404:
    case 405:
      return new ResourceError("not-found", `no such object or bucket at ${at}`);
    case 416:
      return new ResourceError("invalid", "the range begins behind the end of the object");
    case 429:
    case 503:
      return new ResourceError("busy", `${at} is busy (${status})`, { passing: true });
  }
  const passing = status >= 500 || status === 408;
  return new ResourceError("unavailable", `${at} answered ${status}${said === "" ? "" : ` (${said})`}`, { passing });
}

/** Escapes all that ever needs one: signatures are made over exactly this spelling. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function codeOf(cause: unknown): string {
  const { code } = ((cause as Error).cause ?? {}) as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "the connection failed";
}
