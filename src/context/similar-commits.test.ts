/** Past commits that resemble a task speak for the files that they changed. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ResourceError } from "../errors.ts";
import { encodePath } from "../lib/encode-path.ts";
import type { Call, Resources } from "../resources.ts";
import { openServer } from "../server/open-server.ts";
import { testRepository } from "../sources/git/test-repository.ts";
import { type ChangedLines, linesChangedBy } from "./changed-lines.ts";
import { gather } from "./gather.ts";
import { rank } from "./rank.ts";
import { readTask } from "./read-task.ts";
import { findRoots, findSimilarCommits, type SimilarCommit } from "./similar-commits.ts";
import { lookThrough } from "./texts.ts";

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
const known = (...uris: readonly string[]) => uris.map((uri) => ({ uri, name: "" }));
const names = (start: string, count: number) => Array.from({ length: count }, (_, at) => `${start}${at}.txt`);

/** Message → the files that it changes. None of these files contains a word of a task. */
const changes: readonly (readonly [message: string, paths: readonly string[]])[] = [
  ["Heat the kettle sooner", ["lib/stove.txt"]],
  ["在庫の計算を速くする", ["設計/倉庫.txt"]],
  ["Rotate the turbine backwards", names("bulk/", 21)],
  ["Polish the secret samovar", ["private/samovar.txt", "lib/tray.txt"]],
  ["Steam the espresso longer", ["src/routes/[id]/+page.ts", "@scope/a&b,c;d=e$.txt"]],
  ["Grind the coffee \u202e finer with sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyzABCD", ["lib/mill.txt"]],
];

function historyOf(before: number): string {
  const commits = [...Array.from({ length: before }, (_, at) => [`Filler ${at}`, ["filler.txt"]] as const), ...changes];
  return commits
    .map(([message, paths], at) => {
      const files = paths.map((path) => `M 100644 inline ${path}\n${data(`content ${at}\n`)}`);
      return `commit refs/heads/main\ncommitter A <a@b> ${1_750_000_000 + at} +0000\n${data(message)}${files.join("")}`;
    })
    .join("");
}

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-similar-")));
const [long, short] = [join(scratch, "long"), join(scratch, "short")];
const owner = callOf("me", true);
let server: Awaited<ReturnType<typeof openServer>>;
let resources: Resources;

beforeAll(async () => {
  for (const [folder, before] of [
    [long, 520],
    [short, 20],
  ] as const) {
    const repository = testRepository([], folder);
    repository.gitBytes(["fast-import", "--quiet"], historyOf(before));
    repository.git("checkout", "--quiet", "--force", "main");
    // A search for the words of a task finds these files, and from them the root of the files.
    for (const name of ["kettle", "在庫", "turbine", "samovar", "coffee", "espresso"])
      repository.write(`notes/${name}.txt`, `${name}\n`);
  }
  writeFileSync(
    join(scratch, "pressmark.yaml"),
    `mounts:
  files: { source: file, root: long }
  long: { source: git, root: long }
  few: { source: file, root: short }
  short: { source: git, root: short }
callers: { aki: {} }
rules:
  - { allow: [anyone] }
  - { deny: ["caller:aki"], files: ["long/private", "short/private"] }
`,
  );
  server = await openServer({
    folders: [],
    config: join(scratch, "pressmark.yaml"),
    from: scratch,
    env: { ...process.env, HOME: scratch, XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "c") },
    err: { write: () => true },
  });
  ({ resources } = server);
  await vi.waitFor(async () => expect((await resources.search({ text: "kettle", limit: 1 }, owner)).ready).toBe(1), {
    timeout: 30_000,
    interval: 50,
  });
}, 60_000);

afterAll(async () => {
  await server?.close();
  rmSync(scratch, { recursive: true, force: true });
});

function callOf(id: string, isOwner = false): Call {
  return { caller: { id, ...(isOwner && { owner: true }) }, signal: new AbortController().signal };
}

/** Path below a folder → reasons. */
async function whyOf(task: string, folder = long, call = owner): Promise<Record<string, string>> {
  const { receipt } = await gather(resources, { task, budget: 4000 }, call);
  const start = `${pathToFileURL(folder).href}/`;
  return Object.fromEntries(
    receipt.included.map(({ uri, why }) => [
      decodeURIComponent(uri.startsWith(start) ? uri.slice(start.length) : uri),
      why.join("; "),
    ]),
  );
}

const commitsOf = (history: string, ...paths: readonly string[]): readonly SimilarCommit[] =>
  paths.map((path) => {
    const resource = { uri: `${history}commit/1`, name: "1" };
    return { history, resource, subject: "", paths: [path], weight: 1, fade: 1 };
  });

/** Searches know `uris`, and `there` exist. */
const rootOf = async (history: string, paths: readonly string[], uris: readonly string[], there = uris) => {
  const served: Resources = {
    ...resources,
    stat: async (uri) => {
      if (!there.includes(uri)) throw new ResourceError("not-found", "no");
      return { uri, name: "" };
    },
  };
  return (await findRoots(served, commitsOf(history, ...paths), known(...uris), owner)).get(history);
};

describe("similar commits", () => {
  it.each([
    ["The kettle heats too late", "lib/stove.txt", 'changed in a similar commit: "Heat the kettle sooner"'],
    ["在庫の計算が遅い", "設計/倉庫.txt", 'changed in a similar commit: "在庫の計算を速くする"'],
    ["Steam the espresso", "src/routes/[id]/+page.ts", 'changed in a similar commit: "Steam the espresso longer"'],
    ["Steam the espresso", "@scope/a&b,c;d=e$.txt", 'changed in a similar commit: "Steam the espresso longer"'],
  ])("bring in the files that they changed: %s", async (task, path, why) => {
    expect((await whyOf(task))[path]).toContain(why);
  });

  it("give their files the URIs by which search finds them", async () => {
    const { receipt } = await gather(resources, { task: "Steam the espresso: content 525", budget: 4000 }, owner);
    const uris = receipt.included.map(({ uri }) => uri);
    const start = `${pathToFileURL(long).href}/src/`;
    expect(uris.filter((uri) => uri.startsWith(start))).toEqual([`${start}routes/%5Bid%5D/+page.ts`]);
  });

  it("of many files say nothing about them", async () => {
    const found = await whyOf("Rotate the turbine backwards");
    expect(Object.keys(found)).toContain("notes/turbine.txt");
    expect(Object.keys(found).filter((path) => path.startsWith("bulk/"))).toEqual([]);
  });

  it("count nothing in a short history", async () => {
    const found = await whyOf("Heat the kettle sooner", short);
    expect(Object.keys(found)).toContain("notes/kettle.txt");
    expect(Object.keys(found)).not.toContain("lib/stove.txt");
  });

  it("are not in the pack themselves if their files are served", async () => {
    const found = await whyOf("Heat the kettle sooner");
    expect(Object.keys(found).filter((uri) => uri.includes("/commit/"))).toEqual([]);
  });

  it("are in the pack if only the history is served", async () => {
    const only: Resources = {
      ...resources,
      async search(request, call) {
        const result = await resources.search(request, call);
        return { ...result, hits: result.hits.filter(({ resource }) => resource.uri.startsWith("git:")) };
      },
    };
    const { receipt } = await gather(only, { task: "Heat the kettle sooner", budget: 4000 }, owner);
    expect(receipt.included[0]?.uri).toMatch(/^git:\/\/long\/commit\//);
  });

  it("are named in one short line without secrets", async () => {
    const why = (await whyOf("Grind the coffee finer"))["lib/mill.txt"];
    expect(why).toContain('changed in a similar commit: "Grind the coffee finer with [masked]"');
  });

  it("lend nothing to a caller who may not see all of their files", async () => {
    const task = "Polish the secret samovar";
    expect(Object.keys(await whyOf(task))).toEqual(expect.arrayContaining(["private/samovar.txt", "lib/tray.txt"]));
    const without: Resources = { ...resources, templates: async () => ({ items: [] }) };
    const [found, plain] = [resources, without].map((one) => gather(one, { task, budget: 4000 }, callOf("aki")));
    expect(await found).toEqual(await plain);
    expect(JSON.stringify(await found)).not.toMatch(/similar commit|tray|private/);
  });

  it("tell which lines they left behind, in which file", async () => {
    for (const [task, path] of [
      ["Heat the kettle sooner", "lib/stove.txt"],
      ["在庫の計算が遅い", "設計/倉庫.txt"],
    ] as const) {
      const commits = await findSimilarCommits(resources, readTask(task), ["git://long/"], owner);
      const roots = new Map([["git://long/", "file:///here/"]]);
      const lines = await linesChangedBy(resources, commits, roots, owner);
      const at = changes.findIndex(([, paths]) => paths.includes(path));
      expect(lines.get(encodeURI(`file:///here/${path}`))?.get(`content ${520 + at}`)).toBeGreaterThan(0);
    }
  });

  it("raise the passage that they changed", () => {
    const task = readTask("Heat the kettle sooner");
    const text = lookThrough("# One\n\nkettle\n\n# Two\n\nkettle\n\nvalve = 2\n", { path: "a.md" }, task)!;
    const scores = (changed?: ChangedLines) =>
      rank([{ text, found: 0, inherited: 0, history: 0, factor: 1, changed }], task)[0]!.passages.map(
        ({ score }) => score,
      );
    const [one, two] = scores();
    const [other, raised] = scores(new Map([["valve = 2", 0.1]]));
    expect(two).toBeLessThanOrEqual(one!);
    expect(raised).toBeGreaterThan(two!);
    expect(raised! / other!).toBeGreaterThan(two! / one!);
  });

  describe("belong to the files", () => {
    it("with whose URIs their paths end, whatever the history is called", async () => {
      const [here, other] = ["file:///work/here/", "file:///work/other/"];
      const paths = ["a b.ts", "lib/c.ts", "d.ts"];
      expect(await rootOf("git://past/", paths, [`${other}d.ts`, `${here}a%20b.ts`, `${here}lib/c.ts`])).toBe(here);
      expect(await rootOf("git://past/", paths, [`${other}d.ts`, "git://past/blob/HEAD/d.ts"])).toBeUndefined();
    });

    it.each([
      ["/home/flask/flask/", "flask", ["src/flask/app.py", "README.md"]],
      ["/x/cobra/src/cobra/", "cobra", ["command.go", "doc/cobra/a.go"]],
      ["/home/%E6%B1%BA%E6%B8%88/%E6%B1%BA%E6%B8%88/", "%E6%B1%BA%E6%B8%88", ["設計.md"]],
    ])("below %s, also if other folders have the name of the history", async (path, name, paths) => {
      const root = `file://${path}`;
      const all = paths.map((one) => root + encodePath(one));
      expect(await rootOf(`git://${name}/`, paths, all)).toBe(root);
      // None of the commits' files is known: they are looked up.
      expect(await rootOf(`git://${name}/`, paths, [`${root}src/${name}/other.txt`], all)).toBe(root);
    });

    it("of the folder with their name rather than of another with equal paths", async () => {
      const [here, other] = ["file:///work/past/", "file:///work/fork/"];
      const paths = ["a.ts", "b.ts"];
      const there = [here, other].flatMap((root) => paths.map((path) => root + path));
      expect(await rootOf("git://past/", paths, there)).toBe(here);
      const found = [`${here}other.ts`, `${other}a.ts`, `${other}b.ts`];
      expect(await rootOf("git://past/", paths, found, there)).toBe(here);
    });
  });

  it("are not waited for if the history is slow, and stop with the call", async () => {
    const slow: Resources = {
      ...resources,
      read: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    };
    const task = readTask("Heat the kettle sooner");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const found = findSimilarCommits(slow, task, ["git://long/"], owner);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await found).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
    const stop = new AbortController();
    const cancelled = findSimilarCommits(slow, task, ["git://long/"], { caller: owner.caller, signal: stop.signal });
    stop.abort(new Error("stopped"));
    await expect(cancelled).rejects.toThrow("stopped");
  });
});
