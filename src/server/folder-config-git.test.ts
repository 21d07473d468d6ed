import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { clear, scratchFolder, testRepository } from "../sources/git/test-repository.ts";
import type { Call } from "../resources.ts";
import { examineMount } from "./examine.ts";
import { type Server, openServer } from "./open-server.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
const realPath = process.env["PATH"];
let pressmark: Server | undefined;

afterEach(async () => {
  process.env["PATH"] = realPath;
  await pressmark?.close();
  pressmark = undefined;
  await clear();
});

async function open(...folders: readonly string[]): Promise<Server> {
  const home = scratchFolder();
  const env = { XDG_STATE_HOME: join(home, "state"), XDG_CACHE_HOME: join(home, "cache"), HOME: home };
  return (pressmark = await openServer({ folders, from: home, env, err: { write: () => true } }));
}

async function listed({ resources }: Server): Promise<string[]> {
  return (await resources.list({}, call)).items.map(({ uri }) => uri).filter((uri) => uri.startsWith("git:"));
}

it("a checkout is served with its history", async () => {
  const { folder, commit } = testRepository([], join(scratchFolder(), "my project"));
  commit("first", { "a.txt": "as it was" });
  commit("second", { "a.txt": "as it is" });
  const { resources } = await open(folder);
  expect(await listed(pressmark!)).toEqual(
    ["branches", "log", "status", "tags"].map((name) => `git://my%20project/${name}`),
  );
  const read = async (uri: string) => (await resources.read(uri, call)).contents[0]!;
  expect(await read("git://my%20project/blob/main~1/a.txt")).toMatchObject({ body: { text: "as it was" } });
  expect(await read("git://my%20project/tree/refs%2Fheads%2Fmain")).toMatchObject({ mimeType: "application/json" });
  const { values } = await resources.complete(
    {
      template: "git://my%20project/blob/{ref}{/path*}{?lines,bytes}",
      variable: "path",
      value: "a",
      given: { ref: "main" },
    },
    call,
  );
  expect(values).toEqual(["a.txt"]);
  const hash = (await read("git://my%20project/commit/main")).body;
  const pinned = `git://my%20project/blob/${(JSON.parse("text" in hash ? hash.text : "") as { hash: string }).hash}/a.txt`;
  expect(await resources.read(pinned, call)).toMatchObject({ ttlMs: 60_000 });
});

it("several checkouts have different names, and a folder that is none has no history", async () => {
  const base = scratchFolder();
  for (const name of ["one", "two"]) testRepository([], join(base, name)).commit("first", { "a.txt": name });
  mkdirSync(join(base, "plain"));
  await open(join(base, "one"), join(base, "two"), join(base, "plain"));
  expect(new Set((await listed(pressmark!)).map((uri) => new URL(uri).host))).toEqual(new Set(["one", "two"]));
});

it("a .git that leads elsewhere is not followed", async () => {
  const other = testRepository();
  other.commit("first", { "a.txt": "not yours" });
  const folder = scratchFolder();
  writeFileSync(join(folder, ".git"), `gitdir: ${join(other.folder, ".git")}\n`);
  await open(folder);
  expect(await listed(pressmark!)).toEqual([]);
});

it("the doctor reports that a repository works, or that git is missing", async () => {
  const { folder, commit } = testRepository();
  commit("first", { "a.txt": "a" });
  const find = async () => {
    const { mounts } = await open(folder);
    return examineMount(
      mounts.find(({ name }) => name === "git")!,
      call,
    );
  };
  expect(await find()).toMatchObject({ state: "ok", says: "4 resources, listed, read and watched" });
  await pressmark?.close();
  process.env["PATH"] = scratchFolder();
  expect(await find()).toMatchObject({
    state: "broken",
    says: "lists a resource that it cannot read: git is not installed, or not in PATH; install git 2.30 or newer",
  });
});
