/** A real folder for each test, and a source that serves it. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, vi } from "vitest";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { z } from "zod";
import type { Call } from "../../resources.ts";
import type { Source } from "../../source.ts";
import file from "../../sources/file.ts";
import type { Disk } from "./disk.ts";
import type { RuleChoice } from "../folder-rules/name-rules.ts";
import { chooseRules, createFolderRules } from "../folder-rules/folder-rules.ts";
import type { AbsentFolders, FolderRules } from "../folder-rules/folder-rules.ts";

export type FileSource = Required<Omit<Source, "search">>;

export interface TestFolder {
  /** The served folder. */
  readonly root: string;
  /** Its parent folder, for files that must not be served. */
  readonly above: string;
  readonly logged: readonly string[];
  call(): Call;
  stop(): void;
  /** Closed after the test. */
  open(options?: Readonly<Record<string, unknown>>): Promise<FileSource>;
  /** The rules of the folder, as a source would create them. */
  rules(disk: Disk, chosen?: Partial<RuleChoice>, absent?: AbsentFolders): FolderRules;
  /** The user's home folder. */
  readonly home: string;
  /** Where a path is on the disk. */
  at(path: string): string;
  write(path: string, content: string | Uint8Array): void;
  link(target: string, path: string): void;
  /** Another process that runs concurrently; its script has `fs` and `root`, and must end by itself. */
  race(script: string): { readonly over: Promise<void>; isOver(): boolean };
}

/** To be called once, at the top of a test file. */
export function useFolder(): TestFolder {
  let above = "";
  let stop = new AbortController();
  const opened: Source[] = [];
  const logged: string[] = [];

  beforeEach(() => {
    above = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "pressmark-file-")));
    fs.mkdirSync(join(above, "root"));
    // The ignore files of the user who runs the tests must not apply.
    vi.stubEnv("HOME", join(above, "home"));
    vi.stubEnv("XDG_CONFIG_HOME", undefined);
    vi.stubEnv("GIT_CONFIG_GLOBAL", undefined);
    stop = new AbortController();
    logged.length = 0;
  });

  afterEach(async () => {
    stop.abort();
    for (const source of opened.splice(0)) await source.close?.();
    vi.unstubAllEnvs();
    fs.rmSync(above, { recursive: true, force: true });
  });

  const folder: TestFolder = {
    get above() {
      return above;
    },
    get root() {
      return join(above, "root");
    },
    get home() {
      return join(above, "home");
    },
    logged,
    call: () => ({ caller: { id: "tester" }, signal: stop.signal }),
    stop: () => stop.abort(),

    async open(options = {}) {
      const source = await file.open(file.options(z).parse({ root: folder.root, ...options }), {
        env: process.env,
        now: Date.now,
        monotonicMs,
        wait: () => Promise.reject(new Error("a file source never waits")),
        log: (_, message) => logged.push(message),
      });
      opened.push(source);
      return source as FileSource;
    },

    rules: (disk, chosen = {}, absent) =>
      createFolderRules({
        ...chooseRules(chosen),
        root: folder.root,
        disk,
        person: { home: folder.home },
        ...(absent && { absent }),
      }),

    at: (path) => join(folder.root, path),
    write(path, content) {
      fs.mkdirSync(dirname(folder.at(path)), { recursive: true });
      fs.writeFileSync(folder.at(path), content);
    },
    link: (target, path) => fs.symlinkSync(target, folder.at(path)),

    race(script) {
      let isOver = false;
      const begin = `import fs from "node:fs"; const root = ${JSON.stringify(folder.root)};`;
      const racer = spawn(process.execPath, ["--input-type=module", "-e", `${begin} ${script}`], {
        stdio: ["ignore", "ignore", "inherit"],
      });
      const over = new Promise<void>((resolve, reject) => {
        racer.once("exit", (code) => {
          isOver = true;
          if (code === 0) resolve();
          else reject(new Error(`the racing process ended with ${code}`));
        });
      });
      // It is awaited after the race, and may fail before.
      over.catch(() => undefined);
      return { over, isOver: () => isOver };
    },
  };
  return folder;
}
