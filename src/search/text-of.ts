/** Reads the text under which a resource is indexed, if it is text and not too large. */
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Address, Entry, Part, Source } from "../source.ts";

export interface TextLimits {
  /** A larger resource is indexed by its name and title only. */
  readonly maxFileBytes: number;
}

interface FoundText {
  /** Empty if there is no text, or too much. */
  readonly text: string;
  /** Title that only the content has. */
  readonly title?: string;
  /** Version of the content, if only reading tells it. */
  readonly version?: string;
  /** Target of a link. */
  readonly reveals?: Address;
}

/** Undefined if the entry is missing or may not be read. Other errors are thrown. */
export async function textOf(
  source: Pick<Source, "read">,
  entry: Entry,
  { maxFileBytes }: TextLimits,
  call: Call,
): Promise<FoundText | undefined> {
  const { path, query, mimeType = "", size = 0 } = entry;
  const form = mimeType.startsWith("text/") ? undefined : textFormOf(entry);
  const isDocument = form !== undefined;
  if (!isDocument && (media.test(mimeType) || size > maxFileBytes)) return { text: "" };
  const at = isDocument ? { path, query: { ...query, as: form } } : { path, query };
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
        // A damaged document, or one that needs a missing package, has no text.
        if (isDocument) return { text: "" };
        throw cause;
      default:
        throw cause;
    }
  }
  const own = parts.filter((part) => part.at === undefined || part.at.path === path);
  const text = own.flatMap(({ body }) => ("text" in body ? [body.text] : [])).join("\n");
  const reveals = own.find((part) => part.reveals)?.reveals;
  const title = own.map(({ meta }) => meta?.["pressmark/title"]).find((each) => typeof each === "string");
  const isTooMuch = text.length > maxFileBytes || isBinary(text);
  return { text: isTooMuch ? "" : text, title, version: own.length === 1 ? own[0]?.version : undefined, reveals };
}

/** The form in which the source gives the text of this document: the shortest one. */
function textFormOf({ meta }: Entry): string | undefined {
  const forms = meta?.["pressmark/as"];
  return Array.isArray(forms) ? ["summary", "text"].find((form) => forms.includes(form)) : undefined;
}

/** Types known to hold no text are not read at all. */
const media =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|model\/|application\/(?:zip|gzip|x-(?:tar|gzip|bzip2|xz|7z-compressed)|zstd|wasm|java-archive|vnd\.rar)$)/;

const sampleLength = 8192;

/** True for binary data labelled as text: it holds control characters or replacement characters. */
function isBinary(text: string): boolean {
  const sample = text.slice(0, sampleLength);
  if (sample.includes("\0")) return true;
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  const strange = sample.match(/[\u0001-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return strange > sample.length / 20;
}
