/** Opens a repository with the addresses of the git source. Loaded with the first request. */
import { randomBytes } from "node:crypto";
import { openRepository, type OpenRepository, type RepositoryOptions } from "../../backends/git/open-repository.ts";
import type { GitRepository } from "../../backends/git/repository.ts";
import { createTextSeal } from "../../lib/sealed-text.ts";
import type { Runtime, VisibleFiles } from "../../source.ts";
import { createGitCompletion, type GitCompletion } from "./complete.ts";
import { createIndexedCommits, type IndexedCommits } from "./indexed-commits.ts";
import { createGitReader, type GitReader } from "./reading.ts";

export interface RepositoryReader extends Omit<OpenRepository, "seenBy"> {
  readonly reading: GitReader;
  readonly complete: GitCompletion;
  readonly indexed: IndexedCommits;
  /** The reader for a caller who may see these files only. */
  seenBy(visible: VisibleFiles): RepositoryReader;
}

export function openRepositoryReader(
  repository: GitRepository,
  options: RepositoryOptions,
  { redact, indexedCommits }: { readonly redact: Runtime["redact"]; readonly indexedCommits: number },
): RepositoryReader {
  const opened = openRepository(repository, options);
  const seal = createTextSeal(randomBytes(32), "log position");
  const partial = new WeakMap<VisibleFiles, RepositoryReader>();

  function toReader(shown: OpenRepository): RepositoryReader {
    const indexed = createIndexedCommits(shown, indexedCommits);
    return {
      ...shown,
      indexed,
      reading: createGitReader({ ...shown, redact, seal, indexed }),
      complete: createGitCompletion(shown),
      seenBy(visible) {
        let reader = partial.get(visible);
        if (!reader) {
          const readIndexState = (signal: AbortSignal) => indexState(reader!.reading, signal);
          partial.set(visible, (reader = toReader(opened.seenBy(visible, readIndexState))));
        }
        return reader;
      },
    };
  }

  return toReader(opened);
}

async function indexState(reading: GitReader, signal: AbortSignal): Promise<string> {
  const { body } = await reading.read({ path: "status" }, signal);
  return "text" in body ? body.text : "";
}
