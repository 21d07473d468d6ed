import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findRepository } from "../../backends/git/repository.ts";
import type { Source, SourceChange } from "../../source.ts";
import { indexedSince } from "./indexed-since.ts";
import { call, clear, testRepository, type TestRepository } from "./test-repository.ts";

let repository: TestRepository;
let source: Source;

beforeEach(async () => {
  repository = testRepository();
  repository.commit("Add the kettle", { "kettle.md": "boils", "docs/guide.md": "one" });
  repository.commit("Add the secret", { "plans/secret.md": "later" });
  source = await repository.open();
});

afterEach(clear);

/** The versions of everything that is indexed. */
async function everything(): Promise<Map<string, string | undefined>> {
  const { items } = await source.listIndexed!({ limit: 1000 }, call);
  return new Map(items.map(({ path, version }) => [path, version]));
}

/** There is no state for some milliseconds after a rule file was written. */
async function stateNow(): Promise<string> {
  for (;;) {
    const { state } = await source.indexedSince!(undefined, call);
    if (state !== undefined) return state;
  }
}

async function applied(
  known: Map<string, string | undefined>,
  changes: readonly SourceChange[],
): Promise<typeof known> {
  for (const change of changes) {
    if (change.kind === "lost") throw new Error("everything must be listed");
    if (change.kind === "gone") known.delete(change.path);
    else known.set(change.path, (await source.stat!({ path: change.path }, call)).version);
  }
  return known;
}

describe("what has changed of the indexed commits", () => {
  it("is nothing while no ref and no rule has changed, whatever is edited", async () => {
    const state = await stateNow();
    repository.write("docs/guide.md", "edited");
    expect(await source.indexedSince!(state, call)).toEqual({ state, changes: [] });
  });

  it("is enough to bring the index up to date after any change of refs", async () => {
    const { git, commit } = repository;
    let known = await everything();
    let state = await stateNow();
    for (const change of [
      () => commit("Whistle louder", { "kettle.md": "whistles" }),
      () => [git("checkout", "-q", "-b", "side"), commit("Aside", { "new/side.md": "side" })],
      () => git("commit", "-q", "--amend", "-m", "Aside, again"),
      () => [git("checkout", "-q", "main"), git("branch", "-q", "-D", "side")],
      () => git("tag", "-a", "v1", "-m", "The first"),
      () => git("reset", "-q", "--hard", "HEAD~2"),
      () => git("pack-refs", "--all"),
    ]) {
      change();
      const { changes, state: next } = await source.indexedSince!(state, call);
      expect(next).not.toBe(state);
      known = await applied(known, changes!);
      expect(known, String(change)).toEqual(await everything());
      state = next!;
    }
    expect(await source.indexedSince!(state, call)).toEqual({ state, changes: [] });
  });

  it("is unknown without an earlier state, and if other files may be served", async () => {
    const { write, folder, commit } = repository;
    expect((await source.indexedSince!(undefined, call)).changes).toBeUndefined();
    commit("Add rules", { "docs/.gitignore": "drafts/\n" });
    for (const change of [
      () => write("plans/.pressmarkignore", "secret.md\n"),
      () => write(".gitignore", "plans/\n"),
      () => write(".git/info/exclude", "plans/\n"),
      // From now on the rules of HEAD apply to it.
      () => rmSync(join(folder, "docs"), { recursive: true }),
      () => mkdirSync(join(folder, "docs")),
      () => commit("Commit rules", {}),
    ]) {
      const state = await stateNow();
      change();
      expect((await source.indexedSince!(state, call)).changes, String(change)).toBeUndefined();
      await stateNow();
      expect((await source.indexedSince!(state, call)).changes, String(change)).toBeUndefined();
    }
  });

  it("is unknown if a ref moves while git runs", async () => {
    const state = await stateNow();
    repository.commit("Leak the password", { "leak.md": "one" });
    const answer = await indexedSince(findRepository(repository.folder)!, { chosen: {}, env: {} }, state, async () => {
      repository.git("commit", "-q", "--amend", "-m", "Another");
      return { present: { tips: [], ruleFiles: {} }, changes: [] };
    });
    expect(answer).toEqual({});
  });

  it("is unknown if there were more commits than are indexed: others take the places of those that are gone", async () => {
    const { git, gitBytes, open } = repository;
    const commits = Array.from(
      { length: 1003 },
      (_, at) => `commit refs/heads/long\ncommitter Ada <ada@example.org> ${1_760_000_000 + at} +0000\ndata 1\n.\n`,
    );
    gitBytes(["fast-import", "--quiet"], commits.join("\n"));
    source = await open({ indexedCommits: 1001 });
    const counts: (number | undefined)[] = [];
    for (let round = 0; round < 2; round += 1) {
      const state = await stateNow();
      git("update-ref", "refs/heads/long", "long~5");
      counts.push((await source.indexedSince!(state, call)).changes?.length);
    }
    expect(counts).toEqual([undefined, 6]);
  });
});
