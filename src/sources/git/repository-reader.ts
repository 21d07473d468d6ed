/** Opens a repository with the addresses of the git source. Loaded with the first request. */
import { openRepository, type OpenRepository, type RepositoryOptions } from "../../backends/git/open-repository.ts";
import type { GitRepository } from "../../backends/git/repository.ts";
import type { Runtime } from "../../source.ts";
import { createGitCompletion, type GitCompletion } from "./complete.ts";
import { createGitReader, type GitReader } from "./reading.ts";

interface RepositoryReader extends OpenRepository {
  readonly reading: GitReader;
  readonly complete: GitCompletion;
}

export function openRepositoryReader(
  repository: GitRepository,
  options: RepositoryOptions,
  redact: Runtime["redact"],
): RepositoryReader {
  const opened = openRepository(repository, options);
  return { ...opened, reading: createGitReader({ ...opened, redact }), complete: createGitCompletion(opened) };
}
