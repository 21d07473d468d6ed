/** The commit and author that last changed each line of a file. */
import { invalid, quote, ResourceError } from "../../errors.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Part } from "../../source.ts";
import { type ContentRange, formatContentRange } from "../../backends/ranges/range.ts";
import { hiddenMessage } from "../../backends/git/commits.ts";
import type { Mirror } from "../../backends/git/mirror.ts";
import type { HistoryRules } from "../../backends/git/history-rules.ts";
import type { GitProgram } from "../../backends/git/program.ts";
import type { ShownCommits } from "../../backends/git/shown-commits.ts";
import { blameTemplate } from "./templates.ts";
import { unquoteName } from "../../backends/git/unquote-name.ts";

interface BlameRequest {
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly commit: string;
  readonly path: string;
  /** The content of the file. */
  readonly content: Part;
  readonly range: ContentRange | undefined;
  readonly rules: HistoryRules;
  readonly commits: ShownCommits;
  readonly isPartial: boolean;
}

interface Stretch {
  readonly hash: string;
  /** The path of the file in that commit. */
  readonly file: string;
  readonly first: number;
  readonly count: number;
}

interface BlamedCommit {
  readonly author: string;
  readonly email: string;
  readonly date: string;
  readonly subject: string;
  /** Set for the oldest commit of the (possibly shallow) history. */
  readonly boundary?: true;
}

export async function readBlame(request: BlameRequest): Promise<Part> {
  const { maxBytes, commit, path, content, range } = request;
  if (!("text" in content.body)) throw invalid(`${quote(path)} is not text, so it has no lines`);
  const lines = content.body.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (range && range.first > lines.length)
    throw invalid(`${quote(path)} has ${lines.length} lines, so there is no line ${range.first}`, {
      reason: "beyond-end",
      total: lines.length,
    });
  const last = Math.min(range?.last ?? Infinity, lines.length);
  const within = range ? ["-L", `${range.first},${last}`] : [];
  let result = await runBlame(within, request);
  // The file had a path that is not served: its lines from then count as written by the commit that moved it to a served path.
  if (!(await isServedThroughout(result.stretches, request)))
    result = await runBlame(["--no-follow", ...within], request);
  const { stretches, commits, isCut } = result;
  if (request.isPartial)
    for (const [hash, blamed] of commits) commits.set(hash, await visiblePart(hash, blamed, request));
  // In UTF-16 text, git counts lines differently.
  const isPlain = !String(content.meta?.["pressmark/encoding"]).startsWith("utf-16");
  const text = JSON.stringify({
    path,
    commit,
    commits: Object.fromEntries(commits),
    ranges: stretches.map(({ hash, first, count }) => ({
      lines: [first, first + count - 1],
      commit: hash,
      ...(isPlain && { text: lines.slice(first - 1, first - 1 + count).join("\n") }),
    })),
  });
  if (isCut || text.length > maxBytes) throw tooLarge(path, lines.length, maxBytes);
  return { body: { text }, mimeType: "application/json" };
}

/** What a caller may know of a commit who may not see every commit. */
async function visiblePart(
  hash: string,
  { boundary: _boundary, ...blamed }: BlamedCommit,
  { commits }: BlameRequest,
): Promise<BlamedCommit> {
  const isOldest = (await commits.parentsOf(hash)).length === 0;
  return {
    ...blamed,
    ...(!(await commits.showsMessage(hash)) && { subject: hiddenMessage }),
    ...(isOldest && { boundary: true as const }),
  };
}

async function runBlame(how: readonly string[], { program, mirror, signal, maxBytes, commit, path }: BlameRequest) {
  const gitDir = await mirror.ready();
  const args = ["blame", "--incremental", "--no-textconv", ...how, commit, "--", path];
  const { bytes, isCut } = await program.run(args, {
    gitDir,
    signal,
    maxBytes: 4 * maxBytes,
    less: 'some lines, as in "?lines=1-200"',
  });
  return { ...(await parseBlame(bytes.toString("utf8"))), isCut };
}

async function isServedThroughout(stretches: readonly Stretch[], { path, rules }: BlameRequest): Promise<boolean> {
  const names = new Set(stretches.map(({ file }) => file));
  names.delete(path);
  const served = await rules.servesEach([...names].map((name) => [name, { kind: "file", hash: "" }] as const));
  return !served.includes(false);
}

async function parseBlame(output: string): Promise<{ stretches: Stretch[]; commits: Map<string, BlamedCommit> }> {
  const slice = createTimeSlices();
  const stretches: Stretch[] = [];
  let begun: Omit<Stretch, "file"> | undefined;
  const result = new Map<string, Record<string, string>>();
  let current: Record<string, string> = {};
  for (const line of output.split("\n")) {
    await slice();
    const begins = /^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$/.exec(line);
    if (begins) {
      const [, hash = "", first, count] = begins;
      begun = { hash, first: Number(first), count: Number(count) };
      current = result.get(hash) ?? {};
      result.set(hash, current);
      continue;
    }
    const space = line.indexOf(" ");
    const key = space < 0 ? line : line.slice(0, space);
    if (key !== "") current[key] = space < 0 ? "" : line.slice(space + 1);
    // The last header line of each block.
    if (key === "filename" && begun) stretches.push({ ...begun, file: unquoteName(line.slice(space + 1)) });
  }
  stretches.sort((a, b) => a.first - b.first);
  return { stretches, commits: new Map([...result].map(([hash, fields]) => [hash, toBlamedCommit(fields)])) };
}

function toBlamedCommit(fields: Readonly<Record<string, string>>): BlamedCommit {
  const seconds = Number(fields["author-time"]);
  return {
    author: fields["author"] ?? "",
    email: (fields["author-mail"] ?? "").replace(/^<|>$/g, ""),
    date: new Date(Number.isFinite(seconds) ? Math.min(seconds, 8.64e12) * 1000 : 0).toISOString(),
    subject: fields["summary"] ?? "",
    ...(fields["boundary"] !== undefined && { boundary: true as const }),
  };
}

function tooLarge(path: string, lines: number, maxBytes: number): ResourceError {
  const ranges = [formatContentRange({ unit: "lines", first: 1, last: Math.min(lines, 200) })];
  return new ResourceError(
    "too-large",
    `the blame of the ${lines} lines of ${quote(path)} has more than ${maxBytes} bytes; request some lines, as in ${quote(`?${ranges[0]}`)}`,
    { details: { reason: "too-large", maxBytes, template: blameTemplate, ranges } },
  );
}
