/** The history of one repository: branches, commits, and files as they were at any of them. */
import type { Maybe } from "../backends/disk/steps.ts";
import type { RuleChoice } from "../backends/folder-rules/name-rules.ts";
import { ruleOptions } from "../backends/folder-rules/rule-options.ts";
import { quote, ResourceError } from "../errors.ts";
import { defineSource, type Source, type Runtime } from "../source.ts";
import type { RepositoryReader, RepositoryReaderOptions } from "./git/repository-reader.ts";
import { entriesPage } from "./git/page.ts";
import { reachOf } from "./git/reach.ts";
import { findRepository, type GitRepository } from "./git/repository.ts";
import { listed, gitTemplates } from "./git/templates.ts";

export interface GitOptions extends Partial<RuleChoice> {
  readonly root: string;
  readonly maxBytes?: number;
  readonly watch?: "auto" | "poll";
  readonly pollMs?: number;
}

const maxBytesUnlessSaid = 5 * 1024 * 1024;

export default defineSource<GitOptions>({
  name: "git",
  summary: "The history of a git repository: branches, commits, and files as they were",
  scheme: "git",
  options: (z) =>
    z
      .object({
        root: z
          .string()
          .min(1)
          .describe("the folder of the repository: a checkout, or a bare one")
          .meta({ format: "path" }),
        maxBytes: z
          .int()
          .positive()
          .max(512 * 1024 * 1024)
          .default(maxBytesUnlessSaid)
          .describe("how much is read at once, in bytes; of what is larger a part can be asked for"),
        ...ruleOptions(z),
        watch: z
          .enum(["auto", "poll"])
          .default("auto")
          .describe('how changes are noticed: "poll" looks again and again, as network folders may need'),
        pollMs: z
          .int()
          .min(500)
          .max(3_600_000)
          .default(5000)
          .describe("how long to wait between two looks where changes are polled"),
      })
      .strict(),

  open: async (options, runtime) => openGit(openRepository(options.root), options, runtime),
});

export interface GitSource extends Source {
  filesAt: RepositoryReader["filesAt"];
}

/** Without `part`, all of the repository is served. */
export function openGit(
  repository: GitRepository,
  { maxBytes = maxBytesUnlessSaid, watch = "auto", pollMs = 5000, ...chosen }: Omit<GitOptions, "root">,
  { log, redact }: Runtime,
  part?: RepositoryReaderOptions["part"],
): GitSource {
  // Later it may read these places and no others.
  const reach = reachOf(repository);
  let opening: Promise<RepositoryReader> | undefined;
  let opened: RepositoryReader | undefined;
  let isClosed = false;

  /** An open one is not awaited: files are often read by the thousand. */
  function reader(): Maybe<RepositoryReader> {
    if (isClosed) throw new ResourceError("cancelled", "the house is closing");
    if (!opened) return open();
    opened.confine();
    return opened;
  }

  async function open(): Promise<RepositoryReader> {
    opening ??= import("./git/repository-reader.ts").then(({ openRepositoryReader }) =>
      openRepositoryReader(repository, { reach, maxBytes, watch, pollMs, chosen, part, log, redact }),
    );
    try {
      opened = await opening;
    } catch (cause) {
      opening = undefined;
      throw new ResourceError("unavailable", "the repository of this mount is not there just now", { cause });
    }
    opened.confine();
    return opened;
  }

  return {
    cursorAfter: ({ path }) => path,

    async list(ask) {
      return entriesPage(listed, ask);
    },

    async read(at, { signal }) {
      const found = reader();
      const { answer, reading } = found instanceof Promise ? await found : found;
      return [await answer(reading.read(at, signal))];
    },

    async stat(at) {
      const { answer, reading } = await reader();
      return answer(reading.stat(at));
    },

    async children(at, ask, { signal }) {
      const { answer, reading } = await reader();
      return answer(reading.children(at, ask, signal));
    },

    templates: gitTemplates,

    async complete(ask, { signal }) {
      const { answer, complete } = await reader();
      return answer(complete(ask, signal));
    },

    lists: ({ path, query }) => query === undefined && listed.some((entry) => entry.path === path),

    async watch({ signal }) {
      const { answer, watch: begin } = await reader();
      return answer(begin(signal));
    },

    async filesAt(ref, folder) {
      const { answer, filesAt } = await reader();
      return answer(filesAt(ref, folder));
    },

    async close() {
      isClosed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}

function openRepository(root: string): GitRepository {
  const found = findRepository(root);
  if (found) return found;
  throw new ResourceError(
    "invalid",
    `there is no git repository at ${quote(root)}; set "root" to a folder with ".git" in it, or to a bare repository`,
  );
}
