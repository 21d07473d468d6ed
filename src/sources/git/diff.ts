/** The difference between two commits, as a patch of the served files. */
import { quote, ResourceError } from "../../errors.ts";
import { decodeContent } from "../../backends/git/decode-content.ts";
import type { Part } from "../../source.ts";
import {
  changedFiles,
  type ChangedFilesOptions,
  compareCommand,
  maxNamed,
  visibleChanges,
  type WorkTree,
} from "../../backends/git/commits.ts";
import { parseRawDiff, type RawChange, type ServedChange, servedChanges } from "../../backends/git/raw-diff.ts";
import { diffTemplate } from "./templates.ts";

interface DiffRequest extends ChangedFilesOptions {
  readonly maxBytes: number;
  /** Hash of the empty tree. */
  readonly emptyTree: string;
}

/** A change, and its part of the patch. */
interface Section {
  readonly change: RawChange;
  readonly text: Buffer;
}

const how = [
  "-p",
  "-z",
  "--raw",
  "--no-abbrev",
  "--no-color",
  "--no-ext-diff",
  "--no-textconv",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
];
const maxListBytes = 8 * 1024 * 1024;

export async function readDiff(base: string, head: string | WorkTree, request: DiffRequest): Promise<Part> {
  const { rules } = request;
  const visible = await visibleChanges(base, head, request);
  const paths = visible?.files.map((file) => file.path);
  const sections = paths
    ? await sectionsOfEach(base, head, paths, request)
    : await sectionsOf(base, head, request.paths ?? [], "-M", request);
  if (!sections) throw await tooLarge(base, head, request);
  const { served, ...found } = await servedChanges(
    sections.map(({ change }) => change),
    rules,
  );
  const leftOut = visible?.leftOut ?? found.leftOut;
  const halves = await halvesOf(served, base, head, request);
  const texts = served.flatMap((change, index) => {
    if (!change) return [];
    const text = change.isHalf ? halves.get(keyOf(change)) : sections[index]?.text;
    return text ? [decodeContent(text)] : [];
  });
  const note = leftOut === 0 ? "" : `# ${leftOut === 1 ? "1 file" : `${leftOut} files`} not shown\n`;
  return {
    body: { text: note + texts.join("") },
    mimeType: "text/x-diff",
    meta: { "pressmark/files": texts.length, ...(leftOut > 0 && { "pressmark/leftOut": leftOut }) },
  };
}

/** Undefined if the patch is longer than `maxBytes`. */
async function sectionsOf(
  base: string,
  head: string | WorkTree,
  paths: readonly string[],
  renames: "-M" | "--no-renames",
  { program, mirror, signal, maxBytes }: DiffRequest,
): Promise<Section[] | undefined> {
  const gitDir = await mirror.ready();
  const { args, ...where } = compareCommand([...how, renames], base, head, paths);
  const { bytes, isCut } = await program.run(args, {
    ...where,
    gitDir,
    signal,
    maxBytes: maxBytes + maxListBytes,
    less: 'less, with "path"',
  });
  const { changes, end } = parseRawDiff(bytes);
  if (isCut || bytes.length - end > maxBytes) return undefined;
  const patches = splitPatch(bytes.subarray(end));
  let next = 0;
  const sections = changes.map((change) => {
    const from = next;
    // A type change appears in the patch as a deletion and an addition.
    next += change.status === "T" ? 2 : 1;
    return { change, text: Buffer.concat(patches.slice(from, next)) };
  });
  if (next !== patches.length)
    throw new ResourceError("unexpected", "the patches of git do not match its list of files");
  return sections;
}

/** The patch of these paths alone. Renames are detected if the paths fit on one command line. */
async function sectionsOfEach(
  base: string,
  head: string | WorkTree,
  paths: readonly string[],
  request: DiffRequest,
): Promise<Section[] | undefined> {
  const all: Section[] = [];
  let bytes = 0;
  for (let at = 0; at < paths.length; at += maxNamed) {
    const renames = paths.length > maxNamed ? "--no-renames" : "-M";
    const sections = await sectionsOf(base, head, paths.slice(at, at + maxNamed), renames, request);
    all.push(...(sections ?? []));
    bytes += sections?.reduce((sum, { text }) => sum + text.length, 0) ?? 0;
    if (!sections || bytes > request.maxBytes) return undefined;
  }
  return all;
}

/** Patches of changes of which only one side is served, as if the other side had never existed. */
async function halvesOf(
  changes: readonly (ServedChange | undefined)[],
  base: string,
  head: string | WorkTree,
  request: DiffRequest,
): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for (const what of ["added", "deleted"] as const) {
    const paths = changes.flatMap((each) => (each?.isHalf && each.change === what ? [each.path] : []));
    for (let at = 0; at < paths.length; at += maxNamed) {
      const some = paths.slice(at, at + maxNamed);
      const [one, other] = what === "added" ? [request.emptyTree, head] : [base, request.emptyTree];
      const sections = await sectionsOf(one, other, some, "--no-renames", request);
      if (!sections) throw await tooLarge(base, head, request);
      for (const { change, text } of sections) {
        const side = what === "added" ? change.after : change.before;
        if (side) found.set(keyOf({ change: what, path: side.path }), text);
      }
    }
  }
  return found;
}

function keyOf({ change, path }: Pick<ServedChange, "change" | "path">): string {
  return `${change} ${path}`;
}

async function tooLarge(base: string, head: string | WorkTree, request: DiffRequest): Promise<ResourceError> {
  const { maxBytes, paths: [path] = [] } = request;
  const { files } = await changedFiles(base, head, request);
  const depth = path === undefined ? 1 : path.split("/").length + 1;
  const parts = new Set(files.map((file) => file.path.split("/").slice(0, depth).join("/")));
  const ranges = [...parts]
    .filter((part) => part !== path)
    .slice(0, 20)
    .map((part) => `path=${encodeURIComponent(part)}`);
  return new ResourceError(
    "too-large",
    `the patch of ${files.length} files has more than ${maxBytes} bytes; request a part of it, as in ${quote(`?${ranges[0] ?? "path=src"}`)}`,
    { details: { reason: "too-large", maxBytes, files: files.length, template: diffTemplate, ranges } },
  );
}

const header = Buffer.from("\ndiff --git ");

/** One per file. Content lines start with a sign, so none of them can look like the start of a file. */
function splitPatch(patch: Buffer): Buffer[] {
  const patches: Buffer[] = [];
  for (let at = 0; at < patch.length;) {
    const next = patch.indexOf(header, at);
    const end = next < 0 ? patch.length : next + 1;
    patches.push(patch.subarray(at, end));
    at = end;
  }
  return patches;
}
