/** Tests that share one server and one browser; each opens pages of its own. */
import { afterAll, beforeAll, describe } from "vitest";
import { hasBrowser, openStage, type Stage, type StageOptions } from "./browser.ts";
import { indexed } from "./looking.ts";

interface OnStageOptions extends StageOptions {
  /** Whether tests begin when all that is served can be found. */
  readonly isSearched?: boolean;
}

export function onStage(
  name: string,
  files: Parameters<typeof openStage>[0],
  options: OnStageOptions,
  tests: (stage: Stage) => void,
): void {
  describe.skipIf(!hasBrowser)(`${name} (needs /usr/bin/chromium)`, { timeout: 60_000 }, () => {
    let opened: Stage | undefined;
    const stage = (): Stage => {
      if (!opened) throw new Error("the stage is open within tests only");
      return opened;
    };
    beforeAll(async () => {
      opened = await openStage(files, options);
      if (options.isSearched) await indexed(opened);
    }, 60_000);
    afterAll(() => opened?.close(), 30_000);

    tests({
      get root() {
        return stage().root;
      },
      get url() {
        return stage().url;
      },
      get server() {
        return stage().server;
      },
      uriOf: (path) => stage().uriOf(path),
      write: (path, content) => stage().write(path, content),
      open: (visit) => stage().open(visit),
      close: () => stage().close(),
    });
  });
}
