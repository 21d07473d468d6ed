/** The history of one git repository: branches, commits, and files at any commit. */
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

const defaultMaxBytes = 5 * 1024 * 1024;

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
        pollMs: z
          .int()
          .min(500)
          .max(3_600_000)
          .default(5000)
          .describe("Polling interval where changes are not announced, in milliseconds"),
      })
      .strict(),

  open: async (options, runtime) => openGit(openRepository(options.root), options, runtime),
});

export interface GitSource extends Source {
  filesAt: RepositoryReader["filesAt"];
}

/** Without `part`, serves the whole repository. */
export function openGit(
  repository: GitRepository,
  { maxBytes = defaultMaxBytes, watch = "auto", pollMs = 5000, ...chosen }: Omit<GitOptions, "root">,
  { log, redact }: Runtime,
  part?: RepositoryReaderOptions["part"],
): GitSource {
  // From now on git may read these locations only.
  const reach = reachOf(repository);
  let opening: Promise<RepositoryReader> | undefined;
  let opened: RepositoryReader | undefined;
  let isClosed = false;

  /** An open reader is returned without a promise: files are often read by the thousand. */
  function reader(): Maybe<RepositoryReader> {
    if (isClosed) throw new ResourceError("cancelled", "the server is shutting down");
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
      throw new ResourceError("unavailable", "the repository of this mount does not exist at the moment", { cause });
    }
    opened.confine();
    return opened;
  }

  return {
    cursorAfter: ({ path }) => path,

    async list(request) {
      return entriesPage(listed, request);
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

    async children(at, request, { signal }) {
      const { answer, reading } = await reader();
      return answer(reading.children(at, request, signal));
    },

    templates: gitTemplates,

    async complete(request, { signal }) {
      const { answer, complete } = await reader();
      return answer(complete(request, signal));
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
    `no git repository at ${quote(root)}; set "root" to a folder that contains ".git", or to a bare repository`,
  );
}
