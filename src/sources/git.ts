/** The history of one git repository: branches, commits, and files at any commit. */
import { intOption } from "../lib/int-option.ts";
import type { RuleChoice } from "../backends/folder-rules/name-rules.ts";
import { ruleOptions } from "../backends/folder-rules/rule-options.ts";
import { createLazyRepository } from "../backends/git/lazy-repository.ts";
import { placesBeyond } from "../backends/git/reach.ts";
import { invalid, quote } from "../errors.ts";
import type { Caller } from "../resources.ts";
import { type Address, defineSource, segmentsOf, type ShownFiles, type VisibleFilesOf } from "../source.ts";
import { entriesPage } from "../backends/entries-page.ts";
import { findRepository, type GitRepository } from "../backends/git/repository.ts";
import type { Maybe } from "../backends/disk/steps.ts";
import type { RepositoryReader } from "./git/repository-reader.ts";
import { maxIndexedCommits } from "./git/max-indexed-commits.ts";
import { blobTemplate, gitTemplates, indexedEntries, listed, sectionOf } from "./git/templates.ts";

export interface GitOptions extends Partial<RuleChoice> {
  readonly root: string;
  readonly maxBytes?: number;
  readonly watch?: "auto" | "poll";
  readonly pollMs?: number;
  readonly indexedCommits?: number;
}

const defaultMaxBytes = 5 * 1024 * 1024;
const defaultIndexedCommits = 10_000;

export default defineSource<GitOptions>({
  name: "git",
  summary: "The history of a git repository: branches, commits, and files at any commit",
  scheme: "git",
  options: (z) =>
    z
      .object({
        root: z
          .string()
          .min(1)
          .describe("Folder of the repository: a checkout or a bare repository")
          .meta({ format: "path" }),
        maxBytes: z
          .int()
          .positive()
          .max(512 * 1024 * 1024)
          .default(defaultMaxBytes)
          .describe("Largest read, in bytes; a larger file can be read in parts"),
        ...ruleOptions(z),
        watch: z
          .enum(["auto", "poll"])
          .default("auto")
          .describe(
            'How changes are detected: "auto" uses system events, "poll" checks regularly, as network folders may need',
          ),
        pollMs: intOption(z, 500, 3_600_000, 5000).describe(
          "Polling interval where changes are not announced, in milliseconds",
        ),
        indexedCommits: intOption(z, 0, maxIndexedCommits, defaultIndexedCommits).describe(
          "Number of commits in the search index: the newest of HEAD, local branches and tags; 0 for none",
        ),
      })
      .strict(),

  detect({ path }) {
    const found = findRepository(path);
    if (!found || found.isBare) return [];
    // In a worktree or submodule, .git is a file that leads outside.
    const isOutside = placesBeyond(found, found.root).length > 0;
    const needs = '"pressmark trust", because its git folder is outside this folder';
    return [{ what: "git repository", where: ".git", values: { root: "." }, ...(isOutside && { needs }) }];
  },

  async open(
    {
      root,
      maxBytes = defaultMaxBytes,
      watch = "auto",
      pollMs = 5000,
      indexedCommits = defaultIndexedCommits,
      ...chosen
    },
    { log, env, redact },
  ) {
    const found = repositoryAt(root);
    const options = { maxBytes, partTemplate: blobTemplate, watch, pollMs, chosen, log, env };
    const repository = createLazyRepository(found, async (reach) => {
      const { openRepositoryReader } = await import("./git/repository-reader.ts");
      return openRepositoryReader(found, { ...options, reach }, { redact, indexedCommits });
    });

    let visibleTo: VisibleFilesOf | undefined;
    const closing = new AbortController();

    /** The repository as the caller may see it at an address. */
    function readerFor(caller: Caller, at: Address): Maybe<RepositoryReader> {
      const reader = repository.use();
      const visible = visibleTo?.(caller, at);
      if (!visible || visible.maySee({ path: found.root, isWhole: true })) return reader;
      return reader instanceof Promise ? reader.then((opened) => opened.seenBy(visible)) : reader.seenBy(visible);
    }

    return {
      cursorAfter: ({ path }) => path,

      async list(request) {
        return entriesPage(listed, request);
      },

      async read(at, { caller, signal }) {
        const reader = readerFor(caller, at);
        const { answer, reading } = reader instanceof Promise ? await reader : reader;
        return [await answer(reading.read(at, signal))];
      },

      async stat(at, { caller, signal }) {
        const { answer, reading } = await readerFor(caller, at);
        return answer(reading.stat(at, signal));
      },

      async children(at, request, { caller, signal }) {
        const { answer, reading } = await readerFor(caller, at);
        return answer(reading.children(at, request, signal));
      },

      templates: gitTemplates,

      async complete(request, { caller, signal }) {
        const { answer, complete } = await readerFor(caller, { path: sectionOf(request.template) });
        return answer(complete(request, signal));
      },

      async listIndexed(request, { caller, signal }) {
        const { answer, indexed } = await readerFor(caller, { path: "" });
        return answer(indexed.list(request, signal));
      },

      async indexedSince(state, { caller, signal }) {
        const { indexedSince } = await import("./git/indexed-since.ts");
        return indexedSince(found, { chosen, env }, state, async (tips) => {
          const { answer, indexed } = await readerFor(caller, { path: "" });
          return answer(indexed.since(tips, signal));
        });
      },

      indexes: ({ path, query }) =>
        query === undefined &&
        ((indexedCommits > 0 && isCommit(path)) || indexedEntries(indexedCommits).some((entry) => entry.path === path)),

      lists: ({ path, query }) => query === undefined && listed.some((entry) => entry.path === path),

      async watch({ caller, signal }) {
        const { answer, watching } = await readerFor(caller, { path: "" });
        return answer(watching.watch(AbortSignal.any([signal, closing.signal])));
      },

      async noteChanges() {
        (await repository.used())?.expireRules();
      },

      async problems({ signal }) {
        const { answer, indexed } = await repository.use();
        return answer(indexed.problems(signal));
      },

      filesOf: ({ path }) => shownFiles(found.root, segmentsOf(path)),

      filterFiles(visible) {
        visibleTo = visible;
      },

      async close() {
        closing.abort();
        await repository.close();
      },
    };
  },
});

/** Whether this is the address of a commit by its full hash. */
function isCommit(path: string): boolean {
  return /^commit\/(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(path);
}

/** Logs, commits, diffs, refs and the status may show any file of the repository. */
function shownFiles(root: string, [kind, ref, ...names]: readonly string[]): readonly ShownFiles[] {
  switch (kind) {
    case "blob":
    case "blame":
    case "tree":
      return [{ path: ref === undefined ? root : [root, ...names].join("/") }];
    default:
      return [{ path: root, isWhole: kind !== undefined, isFiltered: true }];
  }
}

function repositoryAt(root: string): GitRepository {
  const found = findRepository(root);
  if (found) return found;
  throw invalid(
    `no git repository at ${quote(root)}; set "root" to a folder that contains ".git", or to a bare repository`,
  );
}
