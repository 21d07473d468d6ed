/** Opens a repository with the first request, and again after a failure. */
import { shuttingDown, unavailable } from "../../errors.ts";
import type { Maybe } from "../disk/steps.ts";
import type { OpenRepository } from "./open-repository.ts";
import { type Reach, reachOf } from "./reach.ts";
import type { GitRepository } from "./repository.ts";

interface LazyRepository<T> {
  /** An open one is returned without a promise: files are often read by the thousand. */
  use(): Maybe<T>;
  /** Undefined if nothing has been requested yet, or if it could not be opened. */
  used(): Promise<T | undefined>;
  close(): Promise<void>;
}

/** `load` opens the repository, which may lead to the locations of `reach` and to no others. */
export function createLazyRepository<T extends Pick<OpenRepository, "confine" | "close">>(
  repository: GitRepository,
  load: (reach: Reach) => Promise<T>,
): LazyRepository<T> {
  // From now on git may read these locations only.
  const reach = reachOf(repository);
  let opening: Promise<T> | undefined;
  let opened: T | undefined;
  let isClosed = false;

  async function open(): Promise<T> {
    opening ??= load(reach);
    try {
      opened = await opening;
    } catch (cause) {
      opening = undefined;
      throw unavailable("the repository of this mount does not exist at the moment", cause);
    }
    opened.confine();
    return opened;
  }

  async function used(): Promise<T | undefined> {
    return opening?.catch(() => undefined);
  }

  return {
    use() {
      if (isClosed) throw shuttingDown();
      if (!opened) return open();
      opened.confine();
      return opened;
    },

    used,

    async close() {
      isClosed = true;
      await (await used())?.close();
    },
  };
}
