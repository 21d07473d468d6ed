/** Opens a repository with the first request, and again after a failure. */
import { shuttingDown, unavailable } from "../../errors.ts";
import type { Maybe } from "../disk/steps.ts";
import type { OpenRepository, RepositoryOptions } from "./open-repository.ts";
import { reachOf } from "./reach.ts";
import type { GitRepository } from "./repository.ts";

interface LazyRepository<T> {
  /** An open one is returned without a promise: files are often read by the thousand. */
  use(): Maybe<T>;
  close(): Promise<void>;
}

/** `prepare` adds what its caller needs to the open repository. */
export function createLazyRepository<T extends OpenRepository>(
  repository: GitRepository,
  options: Omit<RepositoryOptions, "reach">,
  prepare: (opened: OpenRepository) => T | Promise<T>,
): LazyRepository<T> {
  // From now on git may read these locations only.
  const reach = reachOf(repository);
  let opening: Promise<T> | undefined;
  let opened: T | undefined;
  let isClosed = false;

  async function open(): Promise<T> {
    opening ??= import("./open-repository.ts").then(({ openRepository }) =>
      prepare(openRepository(repository, { ...options, reach })),
    );
    try {
      opened = await opening;
    } catch (cause) {
      opening = undefined;
      throw unavailable("the repository of this mount does not exist at the moment", cause);
    }
    opened.confine();
    return opened;
  }

  return {
    use() {
      if (isClosed) throw shuttingDown();
      if (!opened) return open();
      opened.confine();
      return opened;
    },

    async close() {
      isClosed = true;
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}
