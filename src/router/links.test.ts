import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Policy } from "../access/policy.ts";
import { openPolicy } from "../access/policy.ts";
import type { Call } from "../resources.ts";
import file from "../sources/file.ts";
import { createResources, type LocalResources } from "./create-resources.ts";

const runtime = {
  env: process.env,
  now: Date.now,
  monotonicMs: () => performance.now(),
  wait: () => Promise.resolve(),
  log: () => {},
};
const noSecrets: Policy = {
  maySee: (caller, _mount, { path }) => caller.id === "boss" || !/^secrets(\/|$)/.test(path),
};

describe("a link to a target that a caller may not see", () => {
  let root: string;
  let pressmark: LocalResources;
  const calling = new AbortController();
  const guest: Call = { caller: { id: "guest" }, signal: calling.signal };
  const boss: Call = { caller: { id: "boss" }, signal: calling.signal };
  const uri = (path: string): string => `${pathToFileURL(root).href}/${path}`;

  async function open(policy: Policy): Promise<LocalResources> {
    const options = { root, maxBytes: 1024 };
    const source = await file.open(options, runtime);
    const base = file.base?.(options) ?? "";
    return createResources({
      mounts: [{ name: "files", base, source }],
      policy,
      runtime,
      cursorKey: new Uint8Array(32),
    });
  }

  async function names(call: Call): Promise<string[][]> {
    const listed = await pressmark.list({}, call);
    const children = await pressmark.children(uri("").slice(0, -1), {}, call);
    const { values } = await pressmark.complete(
      { template: uri("{+path}{?lines,bytes,as}"), variable: "path", value: "", given: {} },
      call,
    );
    return [listed.items.map(({ name }) => name), children.items.map(({ name }) => name), [...values]];
  }

  async function countOf(from: LocalResources): Promise<unknown> {
    const { items } = await from.children(uri("").slice(0, -1), {}, boss);
    return items.find(({ name }) => name === "secrets")?.meta?.["pressmark/children"];
  }

  beforeAll(async () => {
    root = mkdtempSync(join(tmpdir(), "links-"));
    mkdirSync(join(root, "secrets"));
    writeFileSync(join(root, "secrets", "plan.txt"), "the plan");
    writeFileSync(join(root, "open.txt"), "open");
    writeFileSync(join(root, "secrets", "large.txt"), "x".repeat(2000));
    symlinkSync("secrets/large.txt", join(root, "wall.txt"));
    symlinkSync("secrets", join(root, "door"));
    symlinkSync("secrets/plan.txt", join(root, "window.txt"));
    symlinkSync("open.txt", join(root, "other.txt"));
    pressmark = await open(noSecrets);
  });
  afterAll(async () => {
    calling.abort();
    await pressmark.close();
    rmSync(root, { recursive: true });
  });

  it.each([
    "door",
    "door/plan.txt",
    "window.txt",
    "window.txt?lines=1-",
    "window.txt?lines=99-",
    "window.txt?bytes=99-",
    "window.txt?as=text",
    "wall.txt",
  ])("is as absent as its target: %s", async (path) => {
    for (const ask of [pressmark.read, pressmark.stat, (at: string, call: Call) => pressmark.children(at, {}, call)]) {
      await expect(ask(uri(path), guest)).rejects.toThrow(`no resource at ${JSON.stringify(uri(path))}`);
    }
    expect((await pressmark.watch({ uris: [uri(path)] }, guest)).uris).toEqual([]);
  });

  it("is neither listed, nor a child, nor suggested", async () => {
    expect(await names(guest)).toEqual([
      ["open.txt", "other.txt"],
      ["open.txt", "other.txt"],
      ["open.txt", "other.txt"],
    ]);
    expect(await names(boss)).toEqual([
      ["open.txt", "other.txt", "large.txt", "plan.txt", "wall.txt", "window.txt"],
      ["door", "open.txt", "other.txt", "secrets", "wall.txt", "window.txt"],
      ["door/", "open.txt", "other.txt", "secrets/", "wall.txt", "window.txt"],
    ]);
  });

  it("is visible to a caller who may see the target, and so are its changes", async () => {
    const { contents } = await pressmark.read(uri("door/plan.txt"), boss);
    expect(contents).toMatchObject([{ uri: uri("door/plan.txt"), body: { text: "the plan" } }]);
    const wide = await open(openPolicy);
    const watch = await wide.watch({ uris: [uri("window.txt")] }, boss);
    writeFileSync(join(root, "secrets", "plan.txt"), "another plan");
    const { value } = await watch[Symbol.asyncIterator]().next();
    expect(value).toEqual({ kind: "updated", uri: uri("window.txt") });
    await wide.close();
  });

  it("is not counted among the children of a directory for callers who see fewer", async () => {
    expect(await countOf(pressmark)).toBeUndefined();
    const wide = await open(openPolicy);
    expect(await countOf(wide)).toBe(2);
    await wide.close();
  });
});
