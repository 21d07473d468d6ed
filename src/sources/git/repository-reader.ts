/** Adds the addresses of the git source to an open repository. Loaded with the first request. */
import type { OpenRepository } from "../../backends/git/open-repository.ts";
import type { Runtime } from "../../source.ts";
import { createGitCompletion, type GitCompletion } from "./complete.ts";
import { createGitReader, type GitReader } from "./reading.ts";

interface RepositoryReader extends OpenRepository {
  readonly reading: GitReader;
  readonly complete: GitCompletion;
}

export function createRepositoryReader(opened: OpenRepository, redact: Runtime["redact"]): RepositoryReader {
  return { ...opened, reading: createGitReader({ ...opened, redact }), complete: createGitCompletion(opened) };
}
