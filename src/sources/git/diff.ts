/** What differs between two commits, as a patch; files whose names speak of a secret are not in it. */
import { isUtf8 } from "node:buffer";
import { quote, ResourceError } from "../../errors.ts";
import { decodeExactly, findEncoding } from "../../lib/text-encoding.ts";
import type { Part } from "../../source.ts";
import { createTurns } from "../../lib/turns.ts";
import { changedFiles } from "./commits.ts";
import type { Mirror } from "./mirror.ts";
import type { Program } from "./program.ts";
import { isServedPath } from "./trees.ts";
import { diffTemplate } from "./templates.ts";

export interface DiffAsk {
  readonly program: Program;
  readonly mirror: Mirror;
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly path?: string | undefined;
}

const how = [
  "-p",
  "-r",
  "-M",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];

export async function readDiff(base: string, head: string, ask: DiffAsk): Promise<Part> {
  const { program, mirror, signal, maxBytes, path } = ask;
  const gitDir = await mirror.ready();
  const within = path === undefined ? [] : [path];
  const { bytes, isCut } = await program.run(["diff-tree", ...how, base, head, "--", ...within], {
    gitDir,
    signal,
    maxBytes,
    less: 'less, with "path"',
  });
  if (isCut) throw await tooLarge(base, head, ask);
  const sections = sectionsOf(bytes);
  const served: string[] = [];
  const turn = createTurns();
  for (const section of sections) {
    if (isServedSection(section)) served.push(decode(section));
    await turn();
  }
  const leftOut = sections.length - served.length;
  const note =
    leftOut === 0 ? "" : `# left out: ${leftOut === 1 ? "a file" : `${leftOut} files`} with the name of a secret\n`;
  return {
    body: { text: note + served.join("") },
    mimeType: "text/x-diff",
    meta: { "pressmark/files": served.length, ...(leftOut > 0 && { "pressmark/leftOut": leftOut }) },
  };
}

async function tooLarge(base: string, head: string, ask: DiffAsk): Promise<ResourceError> {
  const { maxBytes, path } = ask;
  const { files } = await changedFiles(base, head, ask);
  const depth = path === undefined ? 1 : path.split("/").length + 1;
  const parts = new Set(files.map((file) => file.path.split("/").slice(0, depth).join("/")));
  const ranges = [...parts]
    .filter((part) => part !== path)
    .slice(0, 20)
    .map((part) => `path=${encodeURIComponent(part)}`);
  return new ResourceError(
    "too-large",
    `the patch of ${files.length} files has more than ${maxBytes} bytes; ask for a part of it, as in ${quote(`?${ranges[0] ?? "path=src"}`)}`,
    { details: { reason: "too-large", maxBytes, files: files.length, template: diffTemplate, ranges } },
  );
}

const header = Buffer.from("\ndiff --git ");

/** One per file. Lines of content have a sign in front, so none of them can look like the beginning of a file. */
function sectionsOf(patch: Buffer): Buffer[] {
  const sections: Buffer[] = [];
  for (let at = 0; at < patch.length;) {
    const next = patch.indexOf(header, at);
    const end = next < 0 ? patch.length : next + 1;
    sections.push(patch.subarray(at, end));
    at = end;
  }
  return sections;
}

function isServedSection(section: Buffer): boolean {
  const names = namesIn(section.toString("utf8", 0, 64 * 1024));
  return names.length > 0 && names.every(isServedPath);
}

/** The names that the head of a file's patch speaks of, before and after. */
function namesIn(section: string): string[] {
  const names: string[] = [];
  for (const line of section.split("\n")) {
    if (line.startsWith("@@") || line.startsWith("GIT binary patch")) break;
    const named = /^(?:--- |\+\+\+ |rename from |rename to |copy from |copy to )(.*)$/.exec(line);
    if (named) {
      const name = unquote((named[1] ?? "").replace(/\t$/, ""));
      if (name !== "/dev/null") names.push(/^(?:---|\+\+\+)/.test(line) ? name.slice(2) : name);
    }
  }
  if (names.length > 0) return names;
  // Only the mode changed, or the content is binary or empty: both names are the same.
  const both = section.slice("diff --git ".length, section.indexOf("\n"));
  const half = both.slice(0, (both.length - 1) / 2);
  return [unquote(half).slice(2)];
}

/** Names with unusual characters stand in quotes, with escapes of bytes. */
function unquote(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes = name
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
      /^[0-7]{3}$/.test(escaped) ? String.fromCharCode(Number.parseInt(escaped, 8)) : (escapes[escaped] ?? escaped),
    );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };

/** Files of one commit may be in different encodings. */
function decode(section: Buffer): string {
  if (isUtf8(section)) return section.toString("utf8");
  const found = findEncoding(section);
  const text = found && decodeExactly(section.subarray(found.markBytes), found.encoding);
  return text ?? section.toString("utf8");
}
