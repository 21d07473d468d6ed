/** The text that a resource is found by: what reading it gives, where that is text and not too much of it. */
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Address, Entry, Part, Source } from "../source.ts";

export interface TextLimits {
  /** A larger resource is found by its name and title alone. */
  readonly maxFileBytes: number;
}

export interface FoundText {
  /** Empty for what has no text, or too much of it. */
  readonly text: string;
  /** Where the text really stands, when a link leads there. */
  readonly reveals?: Address;
}

/** Undefined where nothing is there, or nothing that may be read. Other failures are thrown. */
export async function textOf(
  source: Pick<Source, "read">,
  entry: Entry,
  { maxFileBytes }: TextLimits,
  call: Call,
): Promise<FoundText | undefined> {
  const { path, query, mimeType = "", size = 0 } = entry;
  const isDocument = !isText(mimeType) && offersText(entry);
  if (isMedia(mimeType) || (size > maxFileBytes && !isDocument)) return { text: "" };
  const at = isDocument ? { path, query: { ...query, as: "text" } } : { path, ...(query && { query }) };
  let parts: readonly Part[];
  try {
    parts = await source.read(at, call);
  } catch (cause) {
    if (!(cause instanceof ResourceError)) throw cause;
    switch (cause.kind) {
      case "not-found":
      case "denied":
      case "directory":
        return undefined;
      case "too-large":
        return { text: "" };
      case "invalid":
      case "unsupported":
        // A document that is damaged has no text; nor has one that a package is missing for.
        if (isDocument) return { text: "" };
        throw cause;
      default:
        throw cause;
    }
  }
  const own = parts.filter((part) => part.at === undefined || part.at.path === path);
  const text = own.flatMap(({ body }) => ("text" in body ? [body.text] : [])).join("\n");
  const reveals = own.find((part) => part.reveals)?.reveals;
  const isTooMuch = text.length > maxFileBytes || isBinary(text);
  return { text: isTooMuch ? "" : text, ...(reveals && { reveals }) };
}

/** What a source says of a document whose text it can take out. */
function offersText({ meta }: Entry): boolean {
  const forms = meta?.["pressmark/as"];
  return Array.isArray(forms) && forms.includes("text");
}

function isText(mimeType: string): boolean {
  return mimeType.startsWith("text/");
}

const media =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|model\/|application\/(?:zip|gzip|x-(?:tar|gzip|bzip2|xz|7z-compressed)|zstd|wasm|java-archive|vnd\.rar)$)/;

/** What is known to hold no text is not read at all. */
function isMedia(mimeType: string): boolean {
  return media.test(mimeType);
}

const sampleLength = 8192;

/** Bytes that a source calls text hold characters that no text has, or that stand for what could not be decoded. */
function isBinary(text: string): boolean {
  const sample = text.slice(0, sampleLength);
  if (sample.includes("\0")) return true;
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const strange = sample.match(/[\u0001-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return strange > sample.length / 20;
}
