/**
 * No source reveals what the folder rules hide. Files, history, documentation, skills and settings of one generated tree are served
 * together, with a search index, and every possible request is made. Hidden is what the file source does not serve.
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { openPolicy } from "../../access/policy.ts";
import { type Call, directoryType, type Resources } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import type { Mount } from "../../router/route.ts";
import { createCrawl } from "../../search/crawl.ts";
import { openStore } from "../../search/sqlite-store.ts";
import type { IndexStore } from "../../search/store.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { Source, SourceChange, SourceDefinition } from "../../source.ts";
import config from "../../sources/config.ts";
import docs from "../../sources/docs.ts";
import file from "../../sources/file.ts";
import git from "../../sources/git.ts";
import skills from "../../sources/skills.ts";
import { collectChanges } from "../../testing/listen.ts";
import { askEverything, encode, plain, said, textAt, wordsIn } from "./test-entry-points.ts";
import { plan, type Plan, type TestHistory, toldOf, visibleIn, words, writeHistory } from "./test-history.ts";

let scratch: string;
let store: IndexStore;
let stop: AbortController;
let opened: Source[] = [];
let count = 0;

beforeAll(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-reveals-")));
  store = openStore(join(scratch, "index.db"));
});

afterAll(() => {
  store.close();
  rmSync(scratch, { recursive: true, force: true });
});

beforeEach(() => {
  // The ignore files of the user who runs the tests must not apply.
  vi.stubEnv("HOME", join(scratch, "home"));
  vi.stubEnv("XDG_CONFIG_HOME", undefined);
  vi.stubEnv("GIT_CONFIG_GLOBAL", undefined);
});

afterEach(async () => {
  await end();
  vi.unstubAllEnvs();
});

async function end(): Promise<void> {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
}

const runtime = createRuntime({ write: () => true });
const call = (): Call => ({ caller: { id: "reader" }, signal: stop.signal });

interface Served {
  readonly pressmark: Resources;
  readonly mounts: readonly Mount[];
}

/** All sources over one folder; also a bare clone, if HEAD has the same rules as the folder. */
async function serve({ root, git: run }: TestHistory, { exclude, unstaged }: Plan): Promise<Served> {
  const bare = `${root}.git`;
  if (unstaged.length === 0) run("clone", "--quiet", "--bare", root, bare);
  const mounts: Mount[] = [];
  const mount = async (name: string, definition: SourceDefinition, options: Record<string, unknown>, base?: string) => {
    const parsed = definition.options(z).parse(options);
    const source = await definition.open(parsed, runtime);
    opened.push(source);
    mounts.push({ name, base: base ?? definition.base!(parsed), source });
  };
  await mount("files", file as SourceDefinition, { root, exclude });
  await mount("history", git as SourceDefinition, { root, exclude }, "git://h/");
  if (unstaged.length === 0) await mount("bare", git as SourceDefinition, { root: bare, exclude }, "git://bare/");
  await mount("docs", docs as SourceDefinition, { root, exclude }, "docs://d/");
  await mount("docs-ref", docs as SourceDefinition, { root, exclude, ref: "main", git: false }, "docs://r/");
  await mount("skills", skills as SourceDefinition, { root: join(root, "skills"), exclude });
  await mount("settings", config as SourceDefinition, { root, files: ["conf.json", "conf-link.json"], env: false });
  for (const { name, source } of mounts) {
    const limits = { maxFileBytes: 100_000, mayGrow: () => true, moved: () => undefined };
    await createCrawl({ mount: name, source, store, runtime, isWatched: false, once: true, ...limits }).run(
      stop.signal,
    );
  }
  const pressmark = createResources({
    mounts,
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
    index: { problem: () => undefined, ready: () => 1, search: async (ask) => store.search(ask) },
  });
  return { pressmark, mounts };
}

const changeOf = (path: string) => (change: SourceChange) => change.kind !== "lost" && change.path.endsWith(path);

async function check(planned: Plan): Promise<void> {
  const root = join(scratch, String((count += 1)));
  const history = writeHistory(planned, root);
  const { commits, branches, checkout } = history;
  const { exclude } = planned;
  const visible = await visibleIn(history, `${root}.copy`, { exclude }, runtime, call());
  const { told, isShown, shownCommits } = toldOf(history, visible);
  const { pressmark, mounts } = await serve(history, planned);

  const bases = mounts.map(({ base }) => base);
  const { answers, browsed } = await askEverything(pressmark, bases, history, call());
  expect(wordsIn(answers).filter((word) => !told.has(word))).toEqual([]);

  // Complete paths, where responses contain them.
  const named = new Set<string>();
  for (const answer of answers) {
    for (const [, text] of answer.matchAll(/"(?:path|from)\\":\\"((?:[^"\\]|\\\\.)+?)\\"/g))
      if (!/^[0-9a-f]{40}$/.test(text!)) named.add(plain(text!));
    for (const [, one, other] of answer.matchAll(/diff --git (?:\\")?a\/(.+?)(?:\\")? (?:\\")?b\/(.+?)(?:\\")?\\n/g))
      for (const side of [one!, other!]) named.add(plain(side));
  }
  for (const { uri } of browsed) {
    const path = /^git:\/\/\w+\/tree\/[^/]+\/(.+)$/.exec(uri)?.[1];
    if (path !== undefined && /\.[^/]+$/.test(path)) named.add(plain(path));
  }
  const isNamed = (path: string) =>
    visible.paths.has(path) || [...visible.paths].some((each) => each.startsWith(`${path.replace(/\/$/, "")}/`));
  const folders = new Set(browsed.filter((each) => each.mimeType === directoryType).map(({ uri }) => plain(uri)));
  const isFolder = (path: string) => [...folders].some((uri) => uri.endsWith(`/${path.replace(/\/$/, "")}`));
  expect([...named].filter((path) => !isNamed(path) && !isFolder(path))).toEqual([]);

  // A hidden address behaves like a missing one.
  for (const { hash, files } of commits)
    for (const [path, content] of files) {
      const at = encode(path);
      if (isShown(path, content)) continue;
      for (const place of ["blob", "tree", "blame"])
        expect(await said(pressmark.read(`git://h/${place}/${hash}/${at}`, call())), path).toBe('{"kind":"not-found"}');
      const now = checkout.get(path);
      if (now && isShown(path, now)) continue;
      expect(await said(pressmark.read(`${pathToFileURL(root).href}/${at}`, call())), path).toBe(
        '{"kind":"not-found"}',
      );
    }
  const hiddenCommits = commits.filter((commit) => !shownCommits.includes(commit));
  for (const { hash } of hiddenCommits)
    for (const uri of [
      `commit/${hash}`,
      `tree/${hash}`,
      `log?ref=${hash}`,
      `diff/${hash}/main`,
      `commit/${hash.slice(0, 9)}`,
    ])
      expect(await said(pressmark.read(`git://h/${uri}`, call())), uri).toBe('{"kind":"not-found"}');

  // Everything that is not hidden is available.
  for (const commit of shownCommits)
    for (const [path, content] of commit.files)
      if (isShown(path, content) && "text" in content)
        expect(await textAt(pressmark, `git://h/blob/${commit.hash}/${encode(path)}`, call()), path).toBe(content.text);
  const logged = wordsIn(answers).filter((word) => word.startsWith("ms"));
  expect(logged.sort()).toEqual(shownCommits.map(({ subject }) => subject).sort());
  expect(branches).toContain("main");
  for (const { name } of mounts) store.removeBelow(name, "");
}

describe("no source reveals what the folder rules hide", () => {
  beforeEach(() => {
    stop = new AbortController();
  });

  it("for any commits, moves, branches, ignore files and requests", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (planned) => {
        stop = new AbortController();
        try {
          await check(planned);
        } finally {
          await end();
        }
      }),
      { numRuns: 4, endOnFailure: true },
    );
  }, 300_000);

  it("to a watch", async () => {
    const commits = [
      {
        back: 1,
        merged: undefined,
        steps: [
          { kind: "rules" as const, path: ".pressmarkignore", lines: ["zqprivate/", "zqh.md"] },
          { kind: "write" as const, path: "zqprivate/zqa.md" },
          { kind: "write" as const, path: "zqsrc/zqb.md" },
        ],
      },
    ];
    const planned: Plan = { commits, unstaged: [], exclude: ["zqlib"] };
    const history = writeHistory(planned, join(scratch, "watched"));
    const { root, git: run } = history;
    const { pressmark, mounts } = await serve(history, planned);
    await textAt(pressmark, "git://h/blob/main/zqreadme.md", call());
    const heard = await Promise.all(mounts.map(async ({ source }) => collectChanges(await source.watch!(call()))));
    const write = (path: string) => writeFileSync(join(root, path), `${path} mk9\n`);
    for (const path of ["zqprivate/zqa.md", "zqprivate/zqnew.md", "zqsrc/.zqf", "zqsrc/zqg.pem", ".zqhidden.json"])
      write(path);
    for (const path of ["zqsrc/zqh.md", "skills/zqskill/.zqnotes.md", "zqsrc/zqshown.md", "conf.json"]) write(path);
    run("add", "--all");
    run("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "later");
    const index = (name: string) => mounts.findIndex((mount) => mount.name === name);
    await heard[index("files")]!.until(changeOf("zqsrc/zqshown.md"), "of a file");
    await heard[index("history")]!.until(changeOf("main/zqsrc/zqshown.md"), "of a file of a commit");
    await heard[index("docs")]!.until(changeOf("zqsrc/zqshown.md"), "of a document");
    await heard[index("settings")]!.until(changeOf("conf.json"), "of settings");
    const names = heard.flatMap((each) =>
      each.heard.flatMap((change) => plain(JSON.stringify(change)).match(words) ?? []),
    );
    // A folder is announced as changed for any change in it.
    expect([...new Set(names)].sort()).toEqual(["zqshown", "zqskill", "zqsrc"]);
  }, 60_000);
});
