/** What the rules of a folder hide, asked of the command as a process of its own: files, history and search of one folder. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { askEverything, encode, said, wordsIn } from "../../src/backends/folder-rules/test-entry-points.ts";
import {
  type Plan,
  type TestHistory,
  toldOf,
  visibleIn,
  writeHistory,
} from "../../src/backends/folder-rules/test-history.ts";
import { connect, type RemoteServer } from "../../src/client/index.ts";
import { connectProgram } from "../../src/client/stdio.ts";
import { createClock } from "../../src/testing/clock.ts";
import { serve, stdioOf } from "../interop/command.ts";

const write = (path: string) => ({ kind: "write" as const, path });
const move = (which: number, to: string) => ({ kind: "move" as const, which, to });
const rules = (path: string, ...lines: string[]) => ({ kind: "rules" as const, path, lines });
const commit = (...steps: Plan["commits"][number]["steps"]) => ({ back: 1, merged: undefined, steps });

/** Something hidden in each way, on its own and beside what is shown, moved in and out. */
const planned: Plan = {
  commits: [
    commit(
      write("zqsrc/zqa.md"),
      write("zqsrc/zqh.md"),
      rules(".pressmarkignore", "zqprivate/"),
      rules("zqsrc/.gitignore", "*.log"),
    ),
    commit(
      write("zqprivate/zqa.md"),
      write(".zqdot/zqb.txt"),
      write("node_modules/zqlib/zqc日本語.md"),
      write("zqlib/zqg.pem"),
    ),
    commit(write("zqsrc/zqd.log"), write("zq日本/zqc日本語.md"), write("zqprivate/zqe.json")),
    commit(move(0, "zqprivate/zqh.md"), move(2, "zqlib/zqe.json"), write("zqsrc/.zqf")),
    commit(write("zqprivate/zqb.txt")),
  ],
  unstaged: [{ path: ".ignore", lines: ["zq日本"] }],
  exclude: [],
};

let scratch: string;
let history: TestHistory;
let open: AsyncDisposable[];

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-hidden-")));
  vi.stubEnv("HOME", join(scratch, "home"));
  history = writeHistory(planned, join(scratch, "project"));
  open = [];
});

afterEach(async () => {
  for (const each of open.toReversed()) await each[Symbol.asyncDispose]();
  vi.unstubAllEnvs();
  rmSync(scratch, { recursive: true, force: true });
});

function keep<T extends { close(): Promise<void> }>(pressmark: T): T {
  open.push({ [Symbol.asyncDispose]: () => pressmark.close() });
  return pressmark;
}

async function expectDiscreet(pressmark: RemoteServer, bases: readonly string[]): Promise<void> {
  const stop = new AbortController();
  const call = { caller: { id: "reader" }, signal: stop.signal };
  const visible = await visibleIn(history, join(scratch, "copy"), {}, createClock().runtime, call);
  const { told, isShown, shownCommits } = toldOf(history, visible);
  // A search waits for nothing: until all is indexed, it finds less.
  await expect
    .poll(async () => (await pressmark.search({ text: "visible", limit: 10 }, call)).ready, { timeout: 30_000 })
    .toBe(1);
  const { answers } = await askEverything(pressmark, bases, history, call);
  expect(wordsIn(answers).filter((word) => !told.has(word))).toEqual([]);
  for (const { subject } of shownCommits) expect(wordsIn(answers)).toContain(subject);
  const { hits } = await pressmark.search({ text: "visible", limit: 100 }, call);
  expect(hits.map(({ resource }) => resource.uri)).toContain(`${pathToFileURL(history.root).href}/zqreadme.md`);
  const base = bases.find((each) => each.startsWith("git:"))!;
  for (const { hash, files } of history.commits) {
    const isThere = shownCommits.some((each) => each.hash === hash);
    for (const [path, content] of files) {
      const answer = await said(pressmark.read(`${base}blob/${hash}/${encode(path)}`, call));
      const isGiven = isThere && isShown(path, content);
      expect(answer.startsWith('{"contents"'), `${hash} ${path}`).toBe(isGiven);
    }
  }
  stop.abort();
}

describe("a folder with hidden files", () => {
  it("is served without them, under its files, its history and its skills", async () => {
    const serving = await serve({ path: history.root, state: join(scratch, "state") });
    open.push(serving);
    const pressmark = keep(await connect(serving.url));
    await expectDiscreet(pressmark, [`${pathToFileURL(history.root).href}/`, "git://project/", "skill://"]);
  }, 120_000);

  it("is given to a host without them, also by a config with documentation and settings", async () => {
    const config = join(scratch, "pressmark.yaml");
    const mount = (source: string, more = "") => `{ source: ${source}, root: ${JSON.stringify(history.root)}${more} }`;
    writeFileSync(
      config,
      [
        "mounts:",
        `  files: ${mount("file")}`,
        `  history: ${mount("git")}`,
        `  docs: ${mount("docs")}`,
        `  old: ${mount("docs", ", ref: main, git: false")}`,
        `  settings: ${mount("config", ", env: false, files: [conf.json, conf-link.json]")}`,
        "",
      ].join("\n"),
    );
    const { command, args, env } = stdioOf({ path: "", state: join(scratch, "state") });
    const program = {
      command,
      args: [args[0]!, "stdio", "--config", config],
      env: { ...env, HOME: join(scratch, "home") },
    };
    const pressmark = keep(await connectProgram(program));
    const bases = [
      "git://history/",
      "docs://docs/",
      "docs://old/",
      "config://",
      `${pathToFileURL(history.root).href}/`,
    ];
    await expectDiscreet(pressmark, bases);
  }, 120_000);
});
