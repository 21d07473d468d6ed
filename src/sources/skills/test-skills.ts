/** A real folder of skills for each test, and a source that serves it. */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, vi } from "vitest";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { z } from "zod";
import type { Call } from "../../resources.ts";
import type { Source, Runtime } from "../../source.ts";
import skills from "../skills.ts";

export type SkillsSource = Required<Omit<Source, "search">>;

export interface TestSkills {
  /** The folder of skills. */
  readonly root: string;
  /** Its parent folder. */
  readonly above: string;
  readonly logged: readonly string[];
  call(): Call;
  /** Closed after the test. */
  open(options?: Readonly<Record<string, unknown>>, wait?: Runtime["wait"]): Promise<SkillsSource>;
  at(path: string): string;
  write(path: string, content: string | Uint8Array): void;
  /** A SKILL.md with the name of its folder. */
  writeSkill(folder: string, fields?: string): void;
}

/** For tests that write once and then read: only yields, without waiting. */
export const hasty: Runtime["wait"] = () => new Promise<void>((resolve) => void setImmediate(resolve));

export function skillText(name: string, fields = "description: What it is for"): string {
  return `---\nname: ${name}\n${fields}\n---\n\n# ${name}\n\nDo it well.\n`;
}

/** To be called once, at the top of a test file. */
export function useSkills(): TestSkills {
  let above = "";
  let stop = new AbortController();
  const opened: Source[] = [];
  const logged: string[] = [];
  const runtime: Runtime = {
    env: process.env,
    now: Date.now,
    monotonicMs,
    wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
    log: (_level, message, facts) => logged.push(`${message} ${JSON.stringify(facts)}`),
  };

  beforeEach(() => {
    above = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "pressmark-skills-")));
    fs.mkdirSync(join(above, "skills"));
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

  const folder: TestSkills = {
    get above() {
      return above;
    },
    get root() {
      return join(above, "skills");
    },
    logged,
    call: () => ({ caller: { id: "tester" }, signal: stop.signal }),
    async open(options = {}, wait = runtime.wait) {
      const parsed = skills.options(z).parse({ root: folder.root, ...options });
      const source = await skills.open(parsed, { ...runtime, wait });
      opened.push(source);
      return source as SkillsSource;
    },
    at: (path) => join(folder.root, path),
    write(path, content) {
      fs.mkdirSync(dirname(folder.at(path)), { recursive: true });
      fs.writeFileSync(folder.at(path), content);
    },
    writeSkill: (path, fields) =>
      folder.write(`${path}/SKILL.md`, skillText(path.slice(path.lastIndexOf("/") + 1), fields)),
  };
  return folder;
}
