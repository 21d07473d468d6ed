import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTools } from "../../server/tools.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { createDriveApi, type DriveApi } from "./drive-api.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { createSync, type SyncOptions } from "./sync.ts";

const { signal } = new AbortController();
const tools = createTools({ write: () => true });

let fake: FakeDrive;
let folder: string;
beforeEach(async () => {
  fake = await startFakeDrive();
  folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
});
afterEach(async () => {
  await fake.close();
  rmSync(folder, { recursive: true, force: true });
});

const openApi = (): DriveApi =>
  createDriveApi({
    rootUrl: fake.rootUrl,
    identity: undefined,
    withPermissions: false,
    timeoutMs: 5000,
    patienceMs: 0,
    tools,
  });

const openKept = (name = "ledger"): Promise<Ledger> =>
  openLedger({ file: join(folder, `${name}.sqlite`), folders: [] });

const syncOf = (ledger: Ledger, more: Partial<SyncOptions> = {}) =>
  createSync({ api: openApi(), ledger, tools, myDrive: true, drives: "all", withPermissions: false, ...more });

/** Id → title and version, as the ledger lists them. */
const known = (ledger: Ledger) =>
  Object.fromEntries(ledger.files("", 1000).map(({ id, name, version }) => [id, `${name} ${version}`]));
const truth = () =>
  Object.fromEntries(
    [...fake.store.files.values()]
      .filter(({ isTrashed, mimeType }) => !isTrashed && !mimeType.endsWith(".folder"))
      .map(({ id, name, version }) => [id, `${name} ${version}`] as const)
      .sort(),
  );

function furnish(): void {
  fake.addDrive("team", "Team");
  fake.folder("f", "F");
  for (const id of ["a", "b", "c"]) fake.document(id, id, { name: id, parent: "f" });
  fake.put("t1", { content: "1", name: "t1", driveId: "team" });
  fake.put("t2", { content: "2", name: "t2", driveId: "team" });
}

function stir(): void {
  fake.document("a", "edited");
  fake.put("b", { name: "renamed" });
  fake.remove("c");
  fake.put("t1", { driveId: undefined, parent: "f" });
  fake.trash("t2");
  fake.put("new", { content: "new", name: "new", driveId: "team" });
  fake.addDrive("later", "Later");
  fake.put("l1", { content: "x", name: "l1", driveId: "later" });
}

class Crash extends Error {}

/** Both, until the nth thing that is done with them: before it is done, or when it has been. */
function crashing(ledger: Ledger, api: DriveApi, nth: number, when: "before" | "after") {
  let count = 0;
  const guard = <T extends object>(record: T): T =>
    new Proxy(record, {
      get(from, key) {
        const value: unknown = Reflect.get(from, key);
        if (typeof value !== "function") return value;
        return (...asked: unknown[]): unknown => {
          count += 1;
          // What died does nothing more.
          if (count > nth || (count === nth && when === "before")) throw new Crash();
          const done: unknown = Reflect.apply(value, from, asked);
          if (count < nth) return done;
          if (!(done instanceof Promise)) throw new Crash();
          return done.then(() => {
            throw new Crash();
          });
        };
      },
    });
  return { ledger: guard(ledger), api: guard(api), died: () => count >= nth };
}

/** Keeps what it was told, as a reader does that is told of changes and of nothing else. */
function createReader() {
  const held = new Map<string, string>();
  let seq = 0;
  return {
    held: () => Object.fromEntries([...held].sort()),
    read(ledger: Ledger): void {
      const upTo = ledger.seq;
      for (const { id, kind, of } of ledger.changesSince(seq, 1000)!) {
        const row = ledger.row(id);
        if (of !== "file") continue;
        if (kind === "gone") held.delete(id);
        else if (row?.kind === "file") held.set(id, `${row.name} ${row.version}`);
      }
      seq = upTo;
    },
  };
}

describe.each(["before", "after"] as const)("a crash %s anything that is done", (when) => {
  it("loses no change and counts none twice, in the first look and in what follows", async () => {
    furnish();
    let crashes = 0;
    for (let nth = 1; ; nth += 1) {
      const name = `${when}-${nth}`;
      const reader = createReader();
      const first = await openKept(name);
      const dying = crashing(first, openApi(), nth, when);
      await syncOf(dying.ledger, { api: dying.api, holder: "99999999.dead" })
        .now(signal)
        .catch((cause: unknown) => expect(cause).toBeInstanceOf(Crash));
      reader.read(first);
      first.close();
      const again = await openKept(name);
      await syncOf(again).now(signal);
      expect(known(again), `crash ${nth}`).toEqual(truth());
      reader.read(again);
      expect(reader.held(), `crash ${nth}`).toEqual(truth());
      again.close();
      if (!dying.died()) break;
      crashes += 1;
    }
    expect(crashes).toBeGreaterThan(20);
  });

  it("loses no change and counts none twice, while changes are followed", async () => {
    let crashes = 0;
    for (let nth = 1; ; nth += 1) {
      const own = await startFakeDrive();
      await fake.close();
      fake = own;
      furnish();
      const name = `${when}-${nth}`;
      const reader = createReader();
      const first = await openKept(name);
      await syncOf(first).now(signal);
      reader.read(first);
      stir();
      const dying = crashing(first, openApi(), nth, when);
      await syncOf(dying.ledger, { api: dying.api, holder: "99999999.dead" })
        .now(signal)
        .catch((cause: unknown) => expect(cause).toBeInstanceOf(Crash));
      reader.read(first);
      first.close();
      const again = await openKept(name);
      await syncOf(again).now(signal);
      expect(known(again), `crash ${nth}`).toEqual(truth());
      reader.read(again);
      expect(reader.held(), `crash ${nth}`).toEqual(truth());
      again.close();
      if (!dying.died()) break;
      crashes += 1;
    }
    expect(crashes).toBeGreaterThan(15);
  });
});

describe("following", () => {
  it("asks once for each log when nothing changed, and writes nothing", async () => {
    furnish();
    const ledger = await openKept();
    const sync = syncOf(ledger);
    await sync.now(signal);
    const [seq, before] = [ledger.seq, fake.asked.length];
    await sync.now(signal);
    expect(fake.asked.slice(before).map((line) => line.split("?")[0])).toEqual([
      "GET /drive/v3/changes",
      "GET /drive/v3/changes",
    ]);
    expect(ledger.seq).toBe(seq);
    ledger.close();
  });

  it("is one question for all who ask meanwhile", async () => {
    const ledger = await openKept();
    const sync = syncOf(ledger, { drives: [] });
    await sync.now(signal);
    const before = fake.asked.length;
    await Promise.all(Array.from({ length: 20 }, () => sync.now(signal)));
    // The one under way, and one for those who came later.
    expect(fake.asked.length - before).toBe(2);
    ledger.close();
  });

  it("goes on where it was after a start, without looking at everything again", async () => {
    furnish();
    const first = await openKept();
    await syncOf(first).now(signal);
    first.close();
    stir();
    const before = fake.asked.length;
    const again = await openKept();
    await syncOf(again).now(signal);
    expect(known(again)).toEqual(truth());
    const lists = fake.asked.slice(before).filter((line) => line.startsWith("GET /drive/v3/files?"));
    expect(lists.filter((line) => !line.includes("driveId=later"))).toEqual([]);
    again.close();
  });

  it("looks at everything again when a token is not taken any more", async () => {
    furnish();
    const ledger = await openKept();
    await syncOf(ledger).now(signal);
    stir();
    fake.fail([400, "invalid"], { where: "/changes" });
    await syncOf(ledger).now(signal);
    expect(known(ledger)).toEqual(truth());
    ledger.close();
  });

  it("takes what an older look says for older", async () => {
    fake.document("a", "1", { name: "first" });
    const ledger = await openKept();
    await syncOf(ledger).now(signal);
    const old = await openApi().file({ id: "a" }, signal);
    fake.put("a", { name: "second" });
    await syncOf(ledger).now(signal);
    const [log] = ledger.logs;
    ledger.advance({ log: "", files: [old] }, log!.token, log!.token);
    expect(known(ledger)).toEqual({ a: "second 2" });
    ledger.close();
  });

  it("forgets everything of another account", async () => {
    fake.document("a", "1", { name: "mine" });
    const ledger = await openKept();
    await syncOf(ledger).now(signal);
    ledger.setNote("account", "someone else");
    await syncOf(ledger).now(signal);
    expect(known(ledger)).toEqual({ a: "mine 1" });
    expect(ledger.note("account")).toBe(`id-of-${fake.owner}`);
    ledger.close();
  });

  it("of two at once, one looks and both know", async () => {
    for (let index = 0; index < 50; index += 1) fake.put(`id-${index}`, { content: "x" });
    const [one, other] = [await openKept(), await openKept()];
    await Promise.all([syncOf(one).now(signal), syncOf(other).now(signal)]);
    expect(known(one)).toEqual(truth());
    expect(known(other)).toEqual(truth());
    expect(fake.asked.filter((line) => line.startsWith("GET /drive/v3/files?"))).toHaveLength(1);
    one.close();
    other.close();
  });
});

describe("shared drives", () => {
  it("each have a log of their own, come while one looks, and go with all that was in them", async () => {
    furnish();
    const ledger = await openKept();
    const sync = syncOf(ledger);
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "team"]);
    fake.addDrive("later", "Later");
    fake.put("l1", { content: "x", name: "l1", driveId: "later" });
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "later", "team"]);
    expect(known(ledger)).toEqual(truth());
    fake.removeDrive("team");
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "later"]);
    expect(known(ledger)).toEqual(truth());
    ledger.close();
  });

  it("are only those that are named", async () => {
    furnish();
    fake.addDrive("other", "Other");
    fake.put("o", { content: "x", driveId: "other" });
    const ledger = await openKept();
    await syncOf(ledger, { drives: ["team"], myDrive: false }).now(signal);
    expect(Object.keys(known(ledger))).toEqual(["t1", "t2"]);
    ledger.close();
  });
});

describe("a list in which Drive has not looked everywhere", () => {
  it("is asked for again more narrowly", async () => {
    furnish();
    fake.put("theirs", { content: "x", name: "theirs", owner: "x@example.org", permissions: [{ type: "user", emailAddress: fake.owner }] }); // prettier-ignore
    fake.incomplete(1);
    const ledger = await openKept();
    await syncOf(ledger, { drives: [] }).now(signal);
    expect(Object.keys(known(ledger))).toEqual(["a", "b", "c", "theirs"]);
    ledger.close();
  });

  it("is never taken for all there is", async () => {
    furnish();
    const ledger = await openKept();
    await syncOf(ledger).now(signal);
    ledger.forgetLog("team");
    fake.incomplete(10);
    await expect(syncOf(ledger).now(signal)).rejects.toMatchObject({ kind: "unavailable", passing: true });
    fake.incomplete(0);
    await syncOf(ledger).now(signal);
    expect(known(ledger)).toEqual(truth());
    ledger.close();
  });

  it("is begun again when its token has run out", async () => {
    for (let index = 0; index < 1500; index += 1) fake.store.put(`id-${index}`, { name: `${index}`, content: "x" });
    fake.onAsk = (line) => {
      if (!line.includes("pageToken=") || !line.startsWith("GET /drive/v3/files?")) return;
      fake.onAsk = undefined;
      fake.expireLists();
    };
    const ledger = await openKept();
    await syncOf(ledger).now(signal);
    expect(ledger.files("", 2000)).toHaveLength(1500);
    ledger.close();
  });
});
