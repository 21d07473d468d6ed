/** A change of rules that another instance has reported applies at once, whichever source serves the folder. */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { it, onTestFinished } from "vitest";
import { z } from "zod";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { Runtime, Source, SourceDefinition } from "../../source.ts";
import docs from "../../sources/docs.ts";
import file from "../../sources/file.ts";
import git from "../../sources/git.ts";
import skills from "../../sources/skills.ts";
import { skillText } from "../../sources/skills/test-skills.ts";
import { refusal } from "../../testing/refusal.ts";
import { useFolder } from "../disk/test-folder.ts";

const folder = useFolder();

const runtime: Runtime = {
  env: process.env,
  now: Date.now,
  monotonicMs,
  wait: (ms, signal) => setTimeout(ms, undefined, { signal }),
  log: () => undefined,
};

async function open<Options>(definition: SourceDefinition<Options>, options: object): Promise<Source> {
  const parsed = definition.options(z).parse({ root: folder.root, ...options });
  const source = await definition.open(parsed, { ...runtime, env: process.env });
  onTestFinished(async () => source.close?.());
  return source;
}

/** By a rule of the user, which is outside the folder. */
function hideDrafts(): void {
  const excludes = join(folder.home, ".config/git/ignore");
  fs.mkdirSync(dirname(excludes), { recursive: true });
  fs.writeFileSync(excludes, "draft\n");
}

function commitAll(): void {
  const who = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  for (const args of [
    ["init", "--quiet"],
    ["add", "."],
    [...who, "commit", "--quiet", "--message", "one"],
  ])
    execFileSync("git", args, { cwd: folder.root, stdio: "pipe" });
}

const sources: Readonly<Record<string, { open(): Promise<Source>; readonly path: string }>> = {
  file: { open: () => open(file, {}), path: "draft/SKILL.md" },
  docs: { open: () => open(docs, { git: false }), path: "en/draft/SKILL.md" },
  "docs at a ref": {
    async open() {
      commitAll();
      return open(docs, { git: false, ref: "HEAD" });
    },
    path: "en/draft/SKILL.md",
  },
  skills: { open: () => open(skills, {}), path: "draft/SKILL.md" },
  git: {
    async open() {
      commitAll();
      return open(git, {});
    },
    path: "blob/HEAD/draft/SKILL.md",
  },
};

it.each(Object.entries(sources))(
  "%s: a file that a rule outside the folder now hides",
  async (_, { open: begin, path }) => {
    folder.write("draft/SKILL.md", skillText("draft"));
    folder.write("other/SKILL.md", skillText("other"));
    const source = await begin();
    await source.read({ path }, folder.call());
    hideDrafts();
    await source.noteChanges?.([{ kind: "lost" }], folder.call());
    await refusal(source.read({ path }, folder.call()), ["not-found"], "the read of a hidden file");
  },
);
