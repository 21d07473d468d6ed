import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Source } from "../../source.ts";
import { refusal } from "../../testing/refusal.ts";
import { call, clear, readFacts, type TestRepository, testRepository } from "./test-repository.ts";

afterEach(clear);

interface Page {
  readonly from: string | null;
  readonly commits: readonly {
    readonly hash: string;
    readonly subject: string;
    readonly author: { readonly name: string };
  }[];
  readonly next?: string;
}

/** As in a URI, where a plus sign is literal. */
function queryOf(text: string): Record<string, string> {
  return Object.fromEntries(text.split("&").map((pair) => pair.split("=").map(decodeURIComponent) as [string, string]));
}

/** All pages in sequence. */
async function pages(source: Source, query: Readonly<Record<string, string>>): Promise<Page[]> {
  const found: Page[] = [];
  for (let ask: Readonly<Record<string, string>> | undefined = query; ask;) {
    const page: Page = await readFacts<Page>(source, "log", ask);
    found.push(page);
    ask = page.next === undefined ? undefined : queryOf(page.next);
    if (found.length > 500) throw new Error("the pages do not end");
  }
  return found;
}

const hashes = (all: readonly Page[]) => all.flatMap(({ commits }) => commits.map(({ hash }) => hash));

interface Made {
  readonly parents: readonly number[];
  readonly seconds: number;
}

/** Creates the given commits in one import. */
function importHistory(repository: TestRepository, history: readonly Made[]): void {
  const lines = history.flatMap(({ parents, seconds }, index) => {
    const [first, ...others] = parents;
    const who = `${index % 5 === 0 ? "Grace" : "Ada"} <x@example.org> ${seconds} +0000`;
    const message = `commit ${index}`;
    return [
      `commit refs/heads/${index === history.length - 1 ? "main" : "work"}`,
      `mark :${index + 1}`,
      `author ${who}`,
      `committer ${who}`,
      `data ${message.length}\n${message}`,
      ...(first === undefined ? [] : [`from :${first + 1}`]),
      ...others.map((parent) => `merge :${parent + 1}`),
      `M 644 inline ${index % 3 === 0 ? "a/x.txt" : "b.txt"}`,
      `data ${String(index).length}\n${index}`,
      "",
    ];
  });
  repository.gitBytes(["fast-import", "--quiet", "--force"], lines.join("\n"));
}

function linear(count: number): Made[] {
  return Array.from({ length: count }, (_, index) => ({
    parents: index === 0 ? [] : [index - 1],
    seconds: 1_700_000_000 + index,
  }));
}

/** A history with merges and wrong clocks, the same for the same seed. */
function tangled(count: number, seed: number): Made[] {
  let state = seed;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
  return Array.from({ length: count }, (_, index) => {
    const last = index - 1;
    const parents = new Set(index === 0 ? [] : [random(4) === 0 ? Math.max(0, last - random(6)) : last]);
    if (index > 3 && random(3) === 0) parents.add(Math.max(0, last - random(8)));
    if (index === count - 1) for (let back = 1; back < 8; back += 1) parents.add(index - back);
    return { parents: [...parents], seconds: 1_700_000_000 + 2 * index - random(40) };
  });
}

let kept: TestRepository | undefined;
afterAll(() => rmSync(kept?.folder ?? "", { recursive: true, force: true }));

/** A line of 60 commits, for tests that only read. */
function sixty(): TestRepository {
  if (kept) return kept;
  kept = testRepository([], mkdtempSync(join(tmpdir(), "pressmark-test-git-")));
  importHistory(kept, linear(60));
  return kept;
}

describe("the log", () => {
  it.each([4, 50])("contains all commits once, in git's order, %i on a page", async (max) => {
    const repository = sixty();
    const all = await pages(await repository.open(), { max: String(max) });
    expect(hashes(all)).toEqual(repository.git("log", "--format=%H", "main").split("\n"));
    expect(all.length).toBe(Math.ceil(60 / max));
  });

  it.each([1, 7, 42, 99, 2026])("contains all commits once despite merges and wrong clocks (seed %i)", async (seed) => {
    const repository = testRepository();
    importHistory(repository, tangled(80, seed));
    const source = await repository.open();
    const expected = repository.git("log", "--format=%H", "main").split("\n");
    for (const max of ["4", "9"]) expect(hashes(await pages(source, { max }))).toEqual(expected);
  });

  it("continues from its start commit when the branch moves between two pages", async () => {
    const repository = testRepository();
    importHistory(repository, linear(10));
    const source = await repository.open();
    const first = await readFacts<Page>(source, "log", { max: "4" });
    repository.git("reset", "--quiet", "--hard", "main~2");
    repository.commit("another", { "x.txt": "x" });
    const after = queryOf(first.next!);
    const second = await readFacts<Page>(source, "log", after);
    expect([...first.commits, ...second.commits].map(({ subject }) => subject)).toEqual(
      [9, 8, 7, 6, 5, 4, 3, 2].map((index) => `commit ${index}`),
    );
  });

  it.each([
    [{ path: "a" }, ["--", "a"]],
    [{ path: "a/x.txt" }, ["--", "a/x.txt"]],
    [{ author: "GRACE" }, ["--author=Grace"]],
    [{ author: "grace <X@" }, ["--author=Grace"]],
    [{ since: "2023-11-14T22:13:40Z" }, ["--max-age=1700000020"]],
    [{ until: "2023-11-14T22:13:40Z" }, ["--min-age=1700000020"]],
    [{ since: "2023-11-14", until: "2023-11-14" }, []],
    [{ until: "2023-11-13" }, ["--min-age=1"]],
    [
      { author: "grace", path: "a", since: "2023-11-14T22:13:30Z" },
      ["--author=Grace", "--max-age=1700000010", "--", "a"],
    ],
    [{ ref: "main~30" }, ["main~30"]],
  ] as const)("with %j contains what git finds", async (query, args) => {
    const repository = sixty();
    const source = await repository.open();
    const isRef = "ref" in query;
    const expected = repository.git("log", "--format=%H", ...(isRef ? [] : ["main"]), ...args);
    for (const max of ["5", "1000"])
      expect(hashes(await pages(source, { ...query, max }))).toEqual(expected === "" ? [] : expected.split("\n"));
  });

  it("takes a path literally: no pattern, no magic, no option", async () => {
    const repository = testRepository();
    importHistory(repository, linear(5));
    repository.commit("odd", { ":(top)x": "1", "--all": "2", "[b].txt": "3" });
    const source = await repository.open();
    for (const path of [":(top)x", "--all", "[b].txt"])
      expect((await readFacts<Page>(source, "log", { path })).commits.map(({ subject }) => subject)).toEqual(["odd"]);
    expect((await readFacts<Page>(source, "log", { path: "*" })).commits).toEqual([]);
    for (const path of ["../x", "/etc/passwd", "", "a//b", "x".repeat(5000)])
      await refusal(source.read({ path: "log", query: { path } }, call), ["not-found"], path);
  });

  it.each([
    { max: "0" },
    { max: "1001" },
    { max: "-n5" },
    { since: "yesterday" },
    { until: "2026-13-45" },
    { after: "x" },
    { after: `${"0".repeat(40)}.1.1.l.` },
    { after: `${"0".repeat(40)}.1.1.l.${"0".repeat(40)}` },
    { after: `${"0".repeat(40)}.1.1.l.--output=x` },
  ])("refuses %j", async (query) => {
    const repository = testRepository();
    repository.commit("first");
    const asked = (await repository.open()).read(
      { path: "log", query: query as unknown as Record<string, string> },
      call,
    );
    // A walk with nothing ahead is over, whatever its claimed start.
    if ("after" in query && query.after?.endsWith(".l.")) await expect(asked).resolves.toHaveLength(1);
    else await refusal(asked, ["invalid"], JSON.stringify(query));
  });

  it("cuts an endless subject, and returns the rest", async () => {
    const repository = testRepository();
    repository.gitBytes(["commit", "--quiet", "--allow-empty", "--file=-"], "x".repeat(3_000_000));
    repository.commit("next");
    const { commits } = await readFacts<Page>(await repository.open(), "log");
    expect(commits.map(({ subject }) => subject.length)).toEqual([4, 1001]);
  });
});
