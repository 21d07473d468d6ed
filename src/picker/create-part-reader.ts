/** Reads a large resource in parts: from its beginning, or from one of its lines. */
import { cutAt } from "../lib/cut-at.ts";
import { type Lines, linesOf, withLines } from "../lib/line-range-uri.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Content } from "../resources.ts";
import { type Loose, recordOf } from "./loose.ts";
import { blockEnd } from "./pieces.ts";
import type { PreviewState } from "./state.ts";

export interface ResourcePart extends Pick<PreviewState, "contents" | "next" | "previous" | "isPartial"> {}

const linesOfPart = 1000;

export function createPartReader(read: (uri: string, call: Call) => Promise<readonly Content[]>) {
  /** All of it; of a large resource, the part that begins at line `start`. */
  async function firstPart(uri: string, start: number, call: Call): Promise<ResourcePart> {
    try {
      const contents = await read(uri, call);
      return { contents, isPartial: false, next: nextPage(contents.at(-1), uri) };
    } catch (cause) {
      const first = cause instanceof ResourceError && cause.kind === "too-large" ? firstRange(cause) : undefined;
      if (first === undefined || first === uri) throw cause;
      // The text of a large document may be large itself.
      if (first.endsWith("?as=text")) return firstPart(first, start, call);
      return (start > 1 && linesOf(first) && (await partFrom(first, start, call))) || nextPart(first, call);
    }
  }

  /** Undefined if there is no such line, or if it is too long for one read. */
  async function partFrom(uri: string, start: number, call: Call): Promise<ResourcePart | undefined> {
    try {
      const part = await nextPart(withLines(uri, [start, start + linesOfPart - 1]), call);
      return lastLine(part.contents[0]) === undefined ? undefined : { ...part, previous: rangeBefore(uri, start) };
    } catch (cause) {
      if (cause instanceof ResourceError && cause.kind === "invalid") return undefined;
      throw cause;
    }
  }

  async function nextPart(uri: string, call: Call): Promise<ResourcePart> {
    const contents = await read(uri, call);
    const last = contents.at(-1);
    // Bytes are not shown, so one part is enough.
    const next = last && "text" in last.body ? nextRange(last, uri) : undefined;
    return { contents, isPartial: true, next };
  }

  /** All lines that the URI names. Undefined if one of them is too long for one read. */
  async function linesBefore(
    uri: string,
    call: Call,
  ): Promise<Pick<ResourcePart, "contents" | "previous"> | undefined> {
    const [start, end] = linesOf(uri) ?? [1, 0];
    const contents: Content[] = [];
    for (let next: string | undefined = uri; next !== undefined;) {
      const part = await nextPart(next, call);
      contents.push(...part.contents);
      const last = lastLine(contents.at(-1));
      if (last === undefined) return undefined;
      next = last < end ? part.next : undefined;
    }
    return { contents, previous: rangeBefore(uri, start) };
  }

  return { firstPart, nextPart, linesBefore };
}

/** Where to begin a large resource so that these lines and some before them are loaded. */
export function startFor(lines: Lines | undefined): number {
  if (!lines || lines[0] <= linesOfPart) return 1;
  return blockEnd(lines[0] - linesOfPart / 2);
}

/** The number of the first line that is loaded. */
export function firstLineOf(preview: Pick<PreviewState, "previous"> | undefined): number {
  const before = preview?.previous === undefined ? undefined : linesOf(preview.previous);
  return (before?.[1] ?? 0) + 1;
}

/** False if the line is in a part that is not loaded. */
export function hasLine(preview: PreviewState, line: number): boolean {
  if (!preview.isPartial) return true;
  return line >= firstLineOf(preview) && line <= (lastLine(preview.contents.at(-1)) ?? 0);
}

function rangeBefore(uri: string, start: number): string | undefined {
  return start <= 1 ? undefined : withLines(uri, [Math.max(1, start - linesOfPart), start - 1]);
}

/** The server's error says how to request a part. */
function firstRange({ details }: ResourceError): string | undefined {
  const ranges = details?.["ranges"];
  const first: unknown = Array.isArray(ranges) ? ranges[0] : undefined;
  return typeof first === "string" ? first : undefined;
}

function nextRange(content: Content, uri: string): string | undefined {
  const next = rangeOf(content)["next"];
  return typeof next === "string" ? `${cutAt(uri, /\?/)}?${next}` : undefined;
}

/** For separate pages, such as rows of a database. A URI with a line range shows only these lines. */
function nextPage(content: Content | undefined, uri: string): string | undefined {
  if (!content || "lines" in rangeOf(content) || "bytes" in rangeOf(content)) return undefined;
  return nextRange(content, uri);
}

function lastLine(content: Content | undefined): number | undefined {
  const lines = content && rangeOf(content)["lines"];
  const last: unknown = Array.isArray(lines) ? lines[1] : undefined;
  return typeof last === "number" ? last : undefined;
}

function rangeOf({ meta }: Content): Loose {
  return recordOf(meta?.["pressmark/range"]);
}
