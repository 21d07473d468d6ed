/** How old a state may be that reads rely on, and what it costs to know, while nothing watches and no other instance reports. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createRuntime } from "../../server/runtime.ts";
import type { Source } from "../../source.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { asking, collect } from "../../testing/pages.ts";
import gdrive from "../gdrive.ts";
import { createDriveApi } from "./drive-api.ts";
import { createDriveSource } from "./drive-source.ts";
import { openLedger } from "./ledger.ts";

const caller = { id: "owner@example.org", email: "owner@example.org" };
const call = { caller, signal: new AbortController().signal };
const pollMs = 60_000;
const runtime = createRuntime({ write: () => true });
let passedMs = 0;

let fake: FakeDrive;
beforeEach(async () => {
  fake = await startFakeDrive();
  fake.folder("f", "F");
  fake.folder("private", "Private");
  fake.put("a", { name: "a.txt", content: "one", parent: "f" });
  passedMs = 0;
});
afterEach(() => fake.close());

async function open(more: object): Promise<Source> {
  const options = gdrive.options(z).parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl, pollMs, ...more });
  const rest = { identity: undefined, timeoutMs: 5000, patienceMs: 0, withPermissions: false, rootUrl: fake.rootUrl };
  const later = {
    ...runtime,
    now: () => runtime.now() + passedMs,
    monotonicMs: () => runtime.monotonicMs() + passedMs,
  };
  const api = createDriveApi({ ...rest, runtime: later });
  const ledger = await openLedger({ file: undefined, folders: options.folders });
  const source = createDriveSource(options, { api, patientApi: api, ledger, runtime: later });
  onTestFinished(() => source.close?.());
  await listAll(source);
  return source;
}

const listAll = (source: Source) => collect((cursor) => source.list(asking(10, cursor), call));

/** The requests: "changes", or the file, with its content or without. */
async function requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = fake.asked.length;
  await work();
  return fake.asked.slice(before).map((line) => {
    if (line.startsWith("GET /drive/v3/changes?")) return "changes";
    return line.includes("alt=media") ? "content" : "file";
  });
}

const confined = { folders: ["f"] };
const read = (source: Source) => source.read({ path: "file/a" }, call);

it.each([confined, {}])("a read requests only the content while the list is current (%j)", async (options) => {
  const source = await open(options);
  expect(await requestsOf(() => read(source))).toEqual(["content"]);
  expect(await requestsOf(() => read(source))).toEqual(["content"]);
});

describe("when the list is older than the poll interval", () => {
  it("a read in served folders requests the changes first, once for many", async () => {
    const source = await open(confined);
    passedMs += pollMs;
    const requests = await requestsOf(() => Promise.all([read(source), read(source), read(source)]));
    expect(requests.toSorted()).toEqual(["changes", "content", "content", "content"]);
    expect(await requestsOf(() => read(source))).toEqual(["content"]);
  });

  it("a read in a whole Drive requests the file, but no changes", async () => {
    const source = await open({});
    passedMs += pollMs;
    expect(await requestsOf(() => read(source))).toEqual(["file", "content"]);
    await listAll(source);
    expect(await requestsOf(() => read(source))).toEqual(["content"]);
  });

  const looks: Readonly<Record<string, (source: Source) => Promise<unknown>>> = {
    read,
    "read of lines": (source) => source.read({ path: "file/a", query: { lines: "1-1" } }, call),
    stat: (source) => source.stat!({ path: "file/a" }, call),
  };
  describe.each(Object.entries(looks))("a %s", (_, look) => {
    it.each([
      ["was moved out of the served folder", confined, () => fake.put("a", { parent: "private", content: "secret" })],
      ["was trashed", {}, () => fake.trash("a")],
    ])("does not show a file that %s", async (_how, options, leave) => {
      const source = await open(options);
      leave();
      passedMs += pollMs;
      await expect(look(source)).rejects.toMatchObject({ kind: "not-found" });
    });
  });
});

it("a whole Drive can be read while its changes cannot be requested", async () => {
  const source = await open({});
  passedMs += pollMs;
  fake.fail(503, { times: 1000, where: "/changes" });
  expect(await read(source)).toMatchObject([{ body: { text: "one" } }]);
});
