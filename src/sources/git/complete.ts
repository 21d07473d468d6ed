/** Completion of refs and paths. */
import { type SourceCompletionRequest, pathOf, type Suggestion } from "../../source.ts";
import type { Mirror } from "../../backends/git/mirror.ts";
import type { Objects } from "../../backends/git/objects.ts";
import type { GitProgram } from "../../backends/git/program.ts";
import { listedNames, type Refs } from "../../backends/git/refs.ts";
import type { ServedTrees } from "../../backends/git/served-trees.ts";
import { sectionOf } from "./templates.ts";
import type { ShownCommits } from "../../backends/git/shown-commits.ts";

interface CompletingOptions {
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly trees: ServedTrees;
  readonly commits: ShownCommits;
  readonly headers: Objects;
  readonly isPartial: boolean;
}

interface CompletionContext extends CompletingOptions {
  readonly signal: AbortSignal;
}

const maxSuggestions = 100;
const recent = 20;
const maxRecent = 2000;
const shortLength = 12;

/** An unknown variable has no suggestions. */
export type GitCompletion = (request: SourceCompletionRequest, signal: AbortSignal) => Promise<Suggestion[]>;

export function createGitCompletion(options: CompletingOptions): GitCompletion {
  return async ({ template, variable, value, given }, signal) => {
    const context = { ...options, signal };
    // A suggestion reveals the address that the template leads to.
    const section = sectionOf(template);
    if (/^(?:sha|base|head|ref)$/.test(variable)) return completeRef(value, section, context);
    if (variable !== "path") return [];
    return completePath(value, { ref: given["ref"] ?? given["head"] ?? "HEAD", section }, context);
  };
}

/** Branches and tags first, then abbreviated commit hashes. */
async function completeRef(typed: string, section: string, context: CompletionContext): Promise<Suggestion[]> {
  const names = listedNames(await context.refs.all(context.signal));
  const hashes = /^[0-9a-f]*$/.test(typed) ? await commitsLike(typed, context) : [];
  const all = [...best(["HEAD", ...names], typed), ...hashes];
  return [...new Set(all)]
    .slice(0, maxSuggestions)
    .map((value) => ({ value, reveals: { path: pathOf([section, value]) } }));
}

async function commitsLike(typed: string, context: CompletionContext): Promise<string[]> {
  const { program, mirror, signal, isPartial } = context;
  const gitDir = await mirror.ready();
  if (typed.length >= 4 && typed.length <= mirror.hashLength) {
    const { bytes } = await program.run(["rev-parse", `--disambiguate=${typed}`], { gitDir, signal });
    return shownOf(linesOf(bytes).slice(0, maxSuggestions), typed, context);
  }
  for (let count = recent; ; count *= 4) {
    const args = ["rev-list", `--max-count=${count}`, "--all", "--ignore-missing"];
    const hashes = linesOf((await program.run(args, { gitDir, signal })).bytes);
    // For a caller who may not see every commit, the recent ones that they may see.
    const isMore = isPartial && hashes.length === count && count < maxRecent;
    const shown = await shownOf(hashes, isPartial ? "" : typed, context);
    if (!isMore || shown.length >= recent) return shown.slice(0, recent).filter((hash) => hash.startsWith(typed));
  }
}

async function shownOf(
  hashes: readonly string[],
  typed: string,
  { headers, commits }: CompletionContext,
): Promise<string[]> {
  const found = await Promise.all(
    hashes.map(async (hash) => {
      const each = /^[0-9a-f]{40,}$/.test(hash) ? await headers.find(hash) : undefined;
      const isMeant = each?.type === "commit" && each.hash.startsWith(typed);
      return isMeant && (await commits.isShown(each.hash)) ? [each.hash] : [];
    }),
  );
  return found.flat().map((hash) => hash.slice(0, Math.max(shortLength, typed.length)));
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString("latin1").trimEnd().split("\n");
}

/** Names in the folder typed so far, in the chosen commit. */
async function completePath(
  typed: string,
  { ref, section }: { readonly ref: string; readonly section: string },
  { refs, trees }: CompletionContext,
): Promise<Suggestion[]> {
  const above = typed.split("/");
  const begun = above.pop() ?? "";
  const { names, entries } = await trees.folder(await refs.resolve(ref), above);
  return best(names, begun)
    .slice(0, maxSuggestions)
    .map((name) => {
      const path = [...above, name];
      const isFolder = entries.get(name)?.kind === "folder";
      return { value: `${path.join("/")}${isFolder ? "/" : ""}`, reveals: { path: pathOf([section, ref, ...path]) } };
    });
}

/** Prefix matches, then prefix matches that ignore case, then substring matches. */
function best(names: readonly string[], typed: string): string[] {
  const folded = typed.toLowerCase();
  const exact = names.filter((name) => name.startsWith(typed));
  const alike = names.filter((name) => !name.startsWith(typed) && name.toLowerCase().startsWith(folded));
  const holding = names.filter((name) => name.toLowerCase().indexOf(folded) > 0);
  return [...new Set([...exact, ...alike, ...holding])];
}
