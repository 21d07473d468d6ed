/** A real folder of documents for each test, and a source that serves it. */
import { execFileSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { afterEach } from "vitest";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { z } from "zod";
import type { Source } from "../../source.ts";
import docs from "../docs.ts";
import { type TestFolder, useFolder } from "../../backends/disk/test-folder.ts";

export type DocsSource = Required<Omit<Source, "search" | "skills" | "skill">>;

export interface TestCollection extends Pick<
  TestFolder,
  "at" | "call" | "write" | "link" | "root" | "above" | "logged"
> {
  /** Closed after the test. */
  open(options?: Readonly<Record<string, unknown>>): Promise<DocsSource>;
  /** Runs git in the folder, as a test user, at a given time. */
  git(args: readonly string[], time?: string): void;
}

/** To be called once, at the top of a test file. */
export function useCollection(): TestCollection {
  const folder = useFolder();
  const opened: Source[] = [];
  const logged: string[] = [];
  afterEach(async () => {
    for (const source of opened.splice(0)) await source.close?.();
  });

  return {
    ...folder,
    get root() {
      return folder.root;
    },
    get above() {
      return folder.above;
    },
    logged,

    async open(options = {}) {
      logged.length = 0;
      const source = await docs.open(docs.options(z).parse({ root: folder.root, ...options }), {
        env: process.env,
        now: Date.now,
        monotonicMs,
        wait: (ms, signal) => setTimeout(ms, undefined, { signal, ref: false }),
        log: (_, message) => logged.push(message),
      });
      opened.push(source);
      return source as DocsSource;
    },

    git(args, time = "2024-01-02T03:04:05Z") {
      const who = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
      const env = { ...process.env, GIT_AUTHOR_DATE: time, GIT_COMMITTER_DATE: time };
      execFileSync("git", [...who, ...args], { cwd: folder.root, env, stdio: "pipe" });
    },
  };
}
