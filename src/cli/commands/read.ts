/** `pressmark read`: prints one resource. */
import { quote, ResourceError } from "../../errors.ts";
import type { Content } from "../../resources.ts";
import { defineCommand, flag, one, oneOf, UsageError, valueFlag } from "../command.ts";
import { jsonLine, plainText } from "../print.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { isNotFound } from "../reading/find.ts";

export default defineCommand({
  name: "read",
  summary: "Print a resource, or a part of it",
  more: "PATH:12 reads from line 12 on, PATH:12-20 these lines, unless a resource has that name. Prints text unchanged. On a terminal, bytes are refused and control characters are escaped; --raw writes everything.",
  examples: [
    "pressmark read README.md",
    "pressmark read src/index.ts --lines 10-40 --number",
    "pressmark read docs/setup.md:12",
    "pressmark read report.pdf --as text",
    "pressmark read logo.png > copy.png",
  ],
  takes: { where: one("Resource (URI or path)", "files") },
  flags: {
    lines: valueFlag("A-B", "Only these lines, counted from 1; 10- means from line 10 to the end", {
      parse: (text) => toRange(text, "lines", 1),
    }),
    bytes: valueFlag("A-B", "Only these bytes, counted from 0", { parse: (text) => toRange(text, "bytes", 0) }),
    as: valueFlag("FORM", "Convert it first", { offer: ["text"], parse: oneOf(["text"]) }),
    number: flag("Number the lines", { short: "n" }),
    raw: flag("Write everything unchanged, even to a terminal"),
    json: flag("Print one JSON object per content and line, bytes in base64"),
    ...readingFlags,
  },
  async run({ where, flags }, world) {
    const { lines, bytes, as, json } = flags;
    if (lines && bytes) throw new UsageError("choose --lines or --bytes, not both");
    if (bytes && flags.number)
      throw new UsageError("only whole lines can be numbered: leave out --number, or use --lines");
    const wanted = lines ?? bytes;
    await withReadingContext(flags, world, async (context) => {
      const part = wanted ? undefined : await locatePart(where, context);
      const { uri, range } = part ?? { uri: await context.locate(where), range: wanted };
      const show = createShow(flags, range, context);
      let isEnded = true;
      for await (const content of contentsOf(uri, { range, as }, context)) {
        const shown = json ? jsonLine(asJson(content)) : show(content);
        if (shown.length > 0) isEnded = typeof shown !== "string" || shown.endsWith("\n");
        await context.print(shown);
      }
      // Lets the shell's prompt begin on a new line.
      if (!isEnded && context.isTerminal && !flags.raw) await context.print("\n");
    });
  },
});

interface Range {
  readonly unit: "lines" | "bytes";
  readonly first: number;
  /** Infinity: to the end. */
  readonly last: number;
}

/** `A-B`, `A-`, `-B` or `A`. */
function toRange(text: string, unit: Range["unit"], from: number): Range {
  const found = /^(\d{0,15})(-?)(\d{0,15})$/.exec(text);
  const [, before = "", dash = "", behind = ""] = found ?? [];
  const first = before === "" ? from : Number(before);
  const last = dash === "" ? first : behind === "" ? Infinity : Number(behind);
  if (!found || before + behind === "" || first < from || last < first)
    throw new UsageError(
      `takes two numbers of at least ${from}, the smaller first, as in ${unit === "lines" ? "10-40" : "0-1023"}, not ${quote(text, 40)}`,
    );
  return { unit, first, last };
}

/** `PATH:LINE`, from this line on, or `PATH:FIRST-LAST`. Undefined if the whole is a name, or the path is none. */
async function locatePart(where: string, context: ReadingContext): Promise<{ uri: string; range: Range } | undefined> {
  const [, path, before, behind] = /^(.+):([1-9]\d{0,14})(?:-(\d{1,15}))?$/.exec(where) ?? [];
  const first = Number(before);
  const last = behind === undefined ? Infinity : Number(behind);
  if (path === undefined || last < first || !(await isMissing(where, context))) return undefined;
  if (await isMissing(path, context)) return undefined;
  return { uri: await context.locate(path), range: { unit: "lines", first, last } };
}

/** False also if that cannot be known: reading it then reports why. */
async function isMissing(where: string, { locate, resources, call }: ReadingContext): Promise<boolean> {
  try {
    await resources.stat(await locate(where), call);
    return false;
  } catch (cause) {
    return isNotFound(cause);
  }
}

interface Part {
  readonly range: Range | undefined;
  readonly as: "text" | undefined;
}

/** Requests a range that exceeds the limit of one response piece by piece. */
async function* contentsOf(uri: string, part: Part, context: ReadingContext): AsyncGenerator<Content> {
  let query = format(part);
  for (let reached = -1; ;) {
    const { contents } = await readPart(uri, query, context);
    yield* contents;
    const more = contents.length === 1 ? missing(contents[0]!, part) : undefined;
    if (!more || more.reached <= reached) return;
    ({ query, reached } = more);
  }
}

function format({ range, as }: Part): string {
  const words = as === undefined ? [] : [`as=${as}`];
  if (range) words.push(`${range.unit}=${range.first}-${range.last === Infinity ? "" : range.last}`);
  return words.join("&");
}

async function readPart(uri: string, query: string, { resources, call }: ReadingContext) {
  const requested = query === "" ? uri : `${uri}${uri.includes("?") ? "&" : "?"}${query}`;
  try {
    return await resources.read(requested, call);
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "too-large")
      throw new ResourceError("too-large", `${cause.message} (here with --lines or --bytes)`, { cause });
    if (query === "" || !isNotFound(cause)) throw cause;
    // Perhaps only the part is unsupported.
    await resources.stat(uri, call);
    throw new ResourceError(
      "unsupported",
      `parts of ${quote(uri)} cannot be read; leave out --lines, --bytes and --as`,
      { cause },
    );
  }
}

/** Where this content ends, and the query for the rest, if the server reports one. */
function missing(
  { uri, meta }: Content,
  { range }: Part,
): { readonly reached: number; readonly query: string } | undefined {
  const given = meta?.["pressmark/range"];
  if (!range || typeof given !== "object" || given === null) return undefined;
  const { next: query, [range.unit]: held, bytes } = given as Readonly<Record<string, unknown>>;
  if (typeof query !== "string") return undefined;
  const reached = endOf(held);
  if (reached !== undefined) return reached < range.last ? { reached, query } : undefined;
  const cut = endOf(bytes);
  if (cut === undefined) return undefined;
  throw new ResourceError(
    "too-large",
    `a line of ${quote(uri)} is too long for one response and was cut here; continue with --bytes ${cut + 1}-`,
  );
}

function endOf(pair: unknown): number | undefined {
  const end: unknown = Array.isArray(pair) ? pair[1] : undefined;
  return typeof end === "number" ? end : undefined;
}

function createShow(
  { raw, number }: { readonly raw: boolean; readonly number: boolean },
  range: Range | undefined,
  { isTerminal, paint }: ReadingContext,
): (content: Content) => string | Uint8Array {
  const isCareful = isTerminal && !raw;
  let line = range?.first ?? 1;
  return ({ uri, mimeType, body }) => {
    if ("bytes" in body) {
      const what = `${quote(uri)} is ${mimeType ?? "bytes"} (${body.bytes.length} bytes)`;
      if (number) throw new ResourceError("unsupported", `${what} and has no lines to number; leave out --number`);
      if (!isCareful) return body.bytes;
      throw new ResourceError(
        "unsupported",
        `${what}, which a terminal cannot show; redirect it to a file with >, or add --raw`,
      );
    }
    const text = isCareful ? plainText(body.text) : body.text;
    if (!number || text === "") return text;
    const lines = text.replace(/\n$/, "").split("\n");
    return lines.map((each) => `${paint.faint(String(line++).padStart(6))}  ${each}\n`).join("");
  };
}

function asJson({ uri, mimeType, body, meta }: Content): unknown {
  const body64 = "text" in body ? { text: body.text } : { base64: Buffer.from(body.bytes).toString("base64") };
  return { uri, mimeType, ...body64, meta };
}
