/** What another instance has reported of Drive shows at once, however long the poll interval is. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../server/runtime.ts";
import type { Source, SourceChange } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { asking, collect } from "../../testing/pages.ts";
import gdrive from "../gdrive.ts";
import { createDriveApi } from "./drive-api.ts";
import { createDriveSource } from "./drive-source.ts";
import { openLedger } from "./ledger.ts";

const caller = { id: "owner@example.org", email: "owner@example.org" };
const call = { caller, signal: new AbortController().signal };
const runtime = createRuntime({ write: () => true });
const appeared: readonly SourceChange[] = [{ kind: "appeared", path: "file/b" }];

let fake: FakeDrive;
beforeEach(async () => {
  fake = await startFakeDrive();
});
afterEach(() => fake.close());

/** An instance that does not watch. */
async function open(more: object = {}): Promise<Source> {
  const given = { anonymous: true, keep: false, rootUrl: fake.rootUrl, pollMs: 3_600_000, ...more };
  const options = gdrive.options(z).parse(given);
  const withPermissions = options.access === "drive";
  const rest = { identity: undefined, timeoutMs: 5000, patienceMs: 0, rootUrl: fake.rootUrl, runtime };
  const api = createDriveApi({ ...rest, withPermissions });
  const ledger = await openLedger({ file: undefined, folders: options.folders });
  const source = createDriveSource(options, { api, patientApi: api, ledger, runtime });
  onTestFinished(() => source.close?.());
  return source;
}

const pathsOf = (entries: readonly { readonly path: string }[]) => entries.map(({ path }) => path);

const ways: Readonly<Record<string, (source: Source) => Promise<readonly string[]>>> = {
  list: async (source) => pathsOf(await collect((cursor) => source.list(asking(10, cursor), call))),
  children: async (source) =>
    pathsOf(await collect((cursor) => source.children!({ path: "folder/f" }, asking(10, cursor), call))),
  async complete(source) {
    const template = source.templates![0]!;
    const found = await source.complete!({ template, variable: "id", value: "note", given: {} }, call);
    return found.map(({ value }) => `file/${value}`);
  },
};

describe.each(Object.entries(ways))("%s", (_, ask) => {
  it("shows a file that another instance has reported", async () => {
    fake.folder("f", "F");
    fake.put("a", { name: "note a", content: "one", parent: "f" });
    const source = await open();
    expect(await ask(source)).toEqual(["file/a"]);
    fake.put("b", { name: "note b", content: "two", parent: "f" });
    // The state is younger than the poll interval.
    expect(await ask(source)).toEqual(["file/a"]);
    await source.noteChanges!(appeared, call);
    expect(await ask(source)).toEqual(["file/a", "file/b"]);
    const before = fake.asked.length;
    await ask(source);
    expect(fake.asked.slice(before)).toEqual([]);
  });
});

/** The files that do not look as if they did not exist. */
async function seen(look: (path: string) => Promise<unknown>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of ["file/a", "file/b"])
    await look(path).then(
      () => found.push(path),
      (cause: unknown) => expect(cause).toMatchObject({ kind: "not-found" }),
    );
  return found;
}

async function formatsOf(source: Source, id: string): Promise<readonly string[]> {
  const template = source.templates![0]!;
  const found = await source.complete!({ template, variable: "format", value: "", given: { id } }, call);
  return found.map(({ value }) => value);
}

const allWays: typeof ways = {
  ...ways,
  read: (source) => seen((path) => source.read({ path }, call)),
  "read of lines": (source) => seen((path) => source.read({ path, query: { lines: "1-1" } }, call)),
  stat: (source) => seen((path) => source.stat!({ path }, call)),
  async search(source) {
    const [part] = await source.read({ path: "search", query: { q: "note" } }, call);
    const { found } = JSON.parse((part!.body as { readonly text: string }).text) as {
      readonly found: readonly { readonly path: string }[];
    };
    return pathsOf(found).toSorted();
  },
  async "completion of formats"(source) {
    const unknown = await formatsOf(source, "none");
    const known = await Promise.all(["a", "b"].map(async (id) => ({ id, formats: await formatsOf(source, id) })));
    return known.flatMap(({ id, formats }) => (formats.length === unknown.length ? [] : [`file/${id}`]));
  },
};

describe.each(Object.entries(allWays))("%s", (_, ask) => {
  it.each([
    ["was moved out of the served folder", { folders: ["f"] }, () => fake.put("b", { parent: "private" })],
    ["was trashed in the served folder", { folders: ["f"] }, () => fake.trash("b")],
    ["was trashed", {}, () => fake.trash("b")],
  ])("does not show a file of which another instance has reported that it %s", async (_way, options, leave) => {
    fake.folder("f", "F");
    fake.folder("private", "Private");
    for (const id of ["a", "b"]) fake.put(id, { name: `note ${id}`, content: "a note", parent: "f" });
    const source = await open(options);
    await ways["list"]!(source);
    expect(await ask(source)).toEqual(["file/a", "file/b"]);
    fake.put("b", { name: "secret note", content: "a secret note" });
    leave();
    await source.noteChanges!([{ kind: "gone", path: "file/b" }], call);
    expect(await ask(source)).toEqual(["file/a"]);
  });
});

it("knows who may see a reported file before listeners are told of it", async () => {
  const permissions = [{ type: "user", emailAddress: caller.email }] as const;
  fake.put("a", { name: "a.txt", content: "one", permissions });
  const source = await open({ access: "drive" });
  await ways["list"]!(source);
  fake.put("b", { name: "b.txt", content: "two", permissions });
  await source.noteChanges!(appeared, call);
  expect(source.maySee!(caller, { path: "file/b" })).toBe(true);
});
