import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClock } from "../../testing/clock.ts";
import type { FakeDrive } from "../../testing/fakes/gdrive.ts";
import type { DriveApi } from "./drive-api.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { known, shortcutType, startTestSync, type TestSync } from "./test-sync.ts";

const { signal } = new AbortController();

let drive: TestSync;
let fake: FakeDrive;
let folder: string;
beforeEach(async () => {
  drive = await startTestSync();
  ({ fake } = drive);
  folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
});
afterEach(async () => {
  await fake.close();
  rmSync(folder, { recursive: true, force: true });
});

const openKept = (): Promise<Ledger> => openLedger({ file: join(folder, "ledger.sqlite"), folders: [] });
const openFresh = (): Promise<Ledger> => openLedger({ file: undefined, folders: [] });

describe("following", () => {
  it("sends one request for each log when nothing changed, and writes nothing", async () => {
    drive.build();
    const ledger = await openFresh();
    const sync = drive.sync(ledger);
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

  it("does not count a run that began before the state expired", async () => {
    fake.put("a", { content: "1", name: "a" });
    const ledger = await openFresh();
    const api = drive.api();
    const [answered, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let isHolding = false;
    const sync = drive.sync(ledger, {
      api: {
        ...api,
        async changes(...asked) {
          const page = await api.changes(...asked);
          if (isHolding) {
            answered.resolve();
            await held.promise;
          }
          return page;
        },
      },
    });
    await sync.now(signal);
    isHolding = true;
    const before = sync.now(signal);
    await answered.promise;
    fake.put("b", { content: "1", name: "b" });
    sync.expire();
    const after = sync.within(60_000, signal);
    held.resolve();
    await before;
    await after;
    expect(Object.keys(known(ledger))).toEqual(["a", "b"]);
    ledger.close();
  });

  it("does not count a run as recent after the clock was set back", async () => {
    const { runtime, setWallClock } = createClock();
    fake.put("a", { content: "1", name: "a" });
    const ledger = await openFresh();
    const sync = drive.sync(ledger, { runtime });
    await sync.now(signal);
    fake.put("b", { content: "1", name: "b" });
    await sync.within(60_000, signal);
    expect(Object.keys(known(ledger))).toEqual(["a"]);
    setWallClock(-3_600_000);
    await sync.within(60_000, signal);
    expect(Object.keys(known(ledger))).toEqual(["a", "b"]);
    ledger.close();
  });

  it("holds a scan by the clock that processes share, for two minutes at most", async () => {
    const [one, other] = [await openKept(), await openKept()];
    const [mine, theirs] = [`${process.pid} ${hostname()} 1`, `${process.pid} ${hostname()} 2`];
    const atMs = 5_000_000;
    expect(one.beginLook("", "token", mine, atMs)).toBeDefined();
    expect(other.beginLook("", "token", theirs, atMs + 119_999)).toBeUndefined();
    // The machine was rebooted: its clock restarted, and no earlier process is left.
    expect(other.beginLook("", "token", theirs, 1000)).toBeDefined();
    expect(one.beginLook("", "token", mine, 121_000)).toBeDefined();
    one.close();
    other.close();
  });

  it("is one run for all concurrent callers", async () => {
    const ledger = await openFresh();
    const sync = drive.sync(ledger, { drives: [] });
    await sync.now(signal);
    const before = fake.asked.length;
    await Promise.all(Array.from({ length: 20 }, () => sync.now(signal)));
    // The running one, and one for later callers.
    expect(fake.asked.length - before).toBe(2);
    ledger.close();
  });

  it("continues after a start, without listing everything again", async () => {
    drive.build();
    const first = await openKept();
    await drive.sync(first).now(signal);
    first.close();
    drive.stir();
    const before = fake.asked.length;
    const again = await openKept();
    await drive.sync(again).now(signal);
    expect(known(again)).toEqual(drive.truth());
    const lists = fake.asked.slice(before).filter((line) => line.startsWith("GET /drive/v3/files?"));
    expect(lists.filter((line) => !line.includes("driveId=later"))).toEqual([]);
    again.close();
  });

  it("lists everything again when a token is rejected", async () => {
    drive.build();
    const ledger = await openFresh();
    await drive.sync(ledger).now(signal);
    drive.stir();
    fake.fail([400, "invalid"], { where: "/changes" });
    await drive.sync(ledger).now(signal);
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
  });

  it("treats results of an older scan as older", async () => {
    fake.document("a", "1", { name: "first" });
    const ledger = await openFresh();
    await drive.sync(ledger).now(signal);
    const old = await drive.api().file({ id: "a" }, signal);
    fake.put("a", { name: "second" });
    await drive.sync(ledger).now(signal);
    const [log] = ledger.logs;
    ledger.advance({ log: "", files: [old] }, log!.token, log!.token);
    expect(known(ledger)).toEqual({ a: "second 2" });
    ledger.close();
  });

  it("runs one at a time, whenever it is called", async () => {
    const ledger = await openFresh();
    let [running, most] = [0, 0];
    const api = {
      ...drive.api(),
      changes: async (...requested: Parameters<DriveApi["changes"]>) => {
        most = Math.max(most, (running += 1));
        return drive
          .api()
          .changes(...requested)
          .finally(() => (running -= 1));
      },
    };
    const requested: Promise<void>[] = [];
    const sync = drive.sync(ledger, {
      api,
      drives: [],
      ledger: new Proxy(ledger, {
        get(from, key) {
          const value: unknown = Reflect.get(from, key);
          if (key !== "setNote" || requested.length > 100) return value;
          // The last operation: callers arrive at every moment after it.
          return (name: string, text: string): void => {
            from.setNote(name, text);
            if (name !== "synced") return;
            const askOn = (times: number): void => {
              requested.push(sync.now(signal));
              if (times > 0) queueMicrotask(() => askOn(times - 1));
            };
            askOn(20);
          };
        },
      }),
    });
    await Promise.all([sync.now(signal), sync.now(signal)]);
    for (let done = 0; done < requested.length; done += 1) await requested[done];
    expect(requested.length).toBeGreaterThan(20);
    expect(most).toBe(1);
    ledger.close();
  });

  it("of two concurrent processes, one lists and both know", async () => {
    for (let index = 0; index < 50; index += 1) fake.put(`id-${index}`, { content: "x" });
    const [one, other] = [await openKept(), await openKept()];
    const eager = { ...createClock().runtime, wait: () => new Promise<void>((resolve) => setImmediate(resolve)) };
    await Promise.all([one, other].map((ledger) => drive.sync(ledger, { runtime: eager }).now(signal)));
    expect(known(one)).toEqual(drive.truth());
    expect(known(other)).toEqual(drive.truth());
    expect(fake.asked.filter((line) => line.startsWith("GET /drive/v3/files?"))).toHaveLength(1);
    one.close();
    other.close();
  });
});

describe("shared drives", () => {
  it("each have their own log, appear during a listing, and disappear with all their files", async () => {
    drive.build();
    const ledger = await openFresh();
    const sync = drive.sync(ledger);
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "team"]);
    fake.addDrive("later", "Later");
    fake.put("l1", { content: "x", name: "l1", driveId: "later" });
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "later", "team"]);
    expect(known(ledger)).toEqual(drive.truth());
    fake.store.setDrive("team", { name: "Another name", members: [fake.owner] });
    await sync.now(signal);
    expect(ledger.row("team")).toMatchObject({ name: "Another name", kind: "folder", isShown: true });
    fake.removeDrive("team");
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "later"]);
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
  });

  it("are only the configured ones", async () => {
    drive.build();
    fake.addDrive("other", "Other");
    fake.put("o", { content: "x", driveId: "other" });
    const ledger = await openFresh();
    // Anyone who can write there could add a shortcut to anything that the account sees.
    for (const target of ["a", "o"]) fake.put(`to-${target}`, { mimeType: shortcutType, target, driveId: "team" });
    await drive.sync(ledger, { drives: ["team"], myDrive: false }).now(signal);
    expect(Object.keys(known(ledger))).toEqual(["t1", "t2"]);
    ledger.close();
  });
});

describe("the stored state of one account", () => {
  const other = "other@example.org";
  const token = `x.${Buffer.from(JSON.stringify({ iss: other })).toString("base64url")}.x`;
  const asOther = () =>
    drive.api({
      identity: { headers: async () => new Headers({ Authorization: `Bearer ${token}` }), renew: () => undefined },
    });

  it("is never shown for another, whatever the sequence of accounts", async () => {
    fake.document("mine", "1");
    fake.document("theirs", "1", { owner: other });
    const [ledger, theirs] = [await openKept(), await openKept()];
    const sync = drive.sync(ledger);
    await sync.now(signal);
    const seq = ledger.seq;
    await drive.sync(theirs, { api: asOther() }).now(signal);
    expect(Object.keys(known(theirs))).toEqual(["theirs"]);
    // Watches are not told of each removed file, but that changes were lost.
    expect(ledger.changesSince(seq, 1000)).toBeUndefined();
    await sync.within(3_600_000, signal);
    expect(Object.keys(known(ledger))).toEqual(["mine"]);
    ledger.close();
    theirs.close();
  });

  it("is not mixed with that of another by a running scan", async () => {
    const ledger = await openFresh();
    ledger.belongTo("one");
    const look = ledger.beginLook("", "token", "1", 0)!;
    ledger.belongTo("two");
    expect(ledger.beginLook("", "token", "2", 0)).not.toBe(look);
    fake.document("mine", "1");
    const files = [await drive.api().file({ id: "mine" }, signal)];
    expect(ledger.look(look, { log: "", files }, "1", 0)).toBe(false);
    expect(known(ledger)).toEqual({});
    ledger.close();
  });
});

describe("an error that says nothing about the files", () => {
  it.each([401, [403, "accessNotConfigured"]] as const)("as %j removes none of them", async (how) => {
    drive.build();
    const ledger = await openFresh();
    const sync = drive.sync(ledger);
    await sync.now(signal);
    const seq = ledger.seq;
    fake.fail(how, { times: 10, where: "/changes" });
    await expect(sync.now(signal)).rejects.toMatchObject({ kind: "denied" });
    expect(ledger.seq).toBe(seq);
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
  });

  it("does not mean that no one may read them", async () => {
    drive.build();
    const ledger = await openFresh();
    const open = () => drive.sync(ledger, { api: drive.api({ withPermissions: true }), withPermissions: true });
    fake.fail(401, { times: 3, where: "/permissions" });
    await expect(open().now(signal)).rejects.toMatchObject({ kind: "denied" });
    for (let left = 3; left > 0; left -= 1)
      await open()
        .now(signal)
        .catch(() => undefined);
    expect(ledger.row("t1")?.permissions).toMatchObject([{ type: "user", email: fake.owner }]);
    ledger.close();
  });
});

describe("a folder", () => {
  it("is reported when a file left it, whatever happened to the file afterwards", async () => {
    fake.folder("from", "From");
    fake.folder("to", "To");
    fake.document("doc", "1", { parent: "from" });
    const ledger = await openFresh();
    await drive.sync(ledger).now(signal);
    const seq = ledger.seq;
    fake.put("doc", { parent: "to" });
    await drive.sync(ledger).now(signal);
    fake.document("doc", "2");
    await drive.sync(ledger).now(signal);
    expect(ledger.changesSince(seq, 10)).toMatchObject([
      {
        id: "doc",
        kind: "changed",
        places: [
          { folder: "to", kind: "appeared" },
          { folder: "from", kind: "gone" },
        ],
      },
    ]);
    const edited = ledger.seq;
    fake.document("doc", "3");
    await drive.sync(ledger).now(signal);
    expect(ledger.changesSince(edited, 10)).toMatchObject([{ id: "doc", kind: "changed", places: [] }]);
    ledger.close();
  });
});

describe("a file outside the account's own drives", () => {
  it("is served if it was shared with the account, as long as it is", async () => {
    fake.addDrive("foreign", "Foreign", ["x@example.org"]);
    const shared = { driveId: "foreign", permissions: [{ type: "user", emailAddress: fake.owner }] } as const;
    fake.put("shared", { content: "1", name: "shared", ...shared });
    fake.put("not-shared", { content: "1", driveId: "foreign" });
    const [all, none] = [await openFresh(), await openFresh()];
    const [sync, without] = [drive.sync(all), drive.sync(none, { drives: [] })];
    await Promise.all([sync.now(signal), without.now(signal)]);
    expect([known(all), known(none)]).toEqual([{ shared: "shared 1" }, {}]);
    fake.put("shared", { content: "2" });
    fake.put("later", { content: "1", name: "later", ...shared });
    await Promise.all([sync.now(signal), without.now(signal)]);
    expect([known(all), known(none)]).toEqual([{ later: "later 1", shared: "shared 2" }, {}]);
    fake.put("shared", { permissions: [] });
    await sync.now(signal);
    expect(known(all)).toEqual({ later: "later 1" });
    all.close();
    none.close();
  });

  it("is checked again periodically, if only a shortcut leads to it and no log reports it", async () => {
    const { runtime, advance } = createClock();
    const silent = drive.api();
    /** Reports nothing but the shortcut. */
    const api: DriveApi = {
      ...silent,
      files: async (...requested) => {
        const page = await silent.files(...requested);
        return { ...page, files: page.files.filter(({ id }) => id === "s") };
      },
      changes: async (...requested) => ({ ...(await silent.changes(...requested)), changes: [] }),
    };
    const anyone = [{ type: "anyone" }] as const;
    fake.put("s", { mimeType: shortcutType, target: "linked" });
    fake.put("linked", { content: "1", name: "before", owner: "x@example.org", permissions: anyone });
    const ledger = await openFresh();
    const sync = drive.sync(ledger, { api, runtime });
    await sync.now(signal);
    const requested = () => fake.asked.filter((line) => line.startsWith("GET /drive/v3/files/linked")).length;
    fake.put("linked", { name: "after" });
    await sync.now(signal);
    expect([known(ledger), requested()]).toEqual([{ linked: "before 1" }, 1]);
    await advance(900_000);
    await sync.now(signal);
    expect([known(ledger), requested()]).toEqual([{ linked: "after 2" }, 2]);
    fake.put("linked", { permissions: [] });
    await advance(900_000);
    await sync.now(signal);
    expect(known(ledger)).toEqual({});
    fake.put("linked", { permissions: anyone });
    await advance(900_000);
    await sync.now(signal);
    expect(known(ledger)).toEqual({ linked: "after 4" });
    ledger.close();
  });
});

describe("an incomplete list of Drive", () => {
  it("is requested again with narrower queries", async () => {
    drive.build();
    fake.put("theirs", { content: "x", name: "theirs", owner: "x@example.org", permissions: [{ type: "user", emailAddress: fake.owner }] }); // prettier-ignore
    fake.incomplete(1);
    const ledger = await openFresh();
    await drive.sync(ledger, { drives: [] }).now(signal);
    expect(Object.keys(known(ledger))).toEqual(["a", "b", "c", "theirs"]);
    ledger.close();
  });

  it("is never treated as complete", async () => {
    drive.build();
    const ledger = await openFresh();
    await drive.sync(ledger).now(signal);
    ledger.forgetLog("team");
    fake.incomplete(10);
    await expect(drive.sync(ledger).now(signal)).rejects.toMatchObject({ kind: "unavailable", passing: true });
    fake.incomplete(0);
    await drive.sync(ledger).now(signal);
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
  });

  it("starts again when its token has expired", async () => {
    for (let index = 0; index < 1500; index += 1) fake.store.put(`id-${index}`, { name: `${index}`, content: "x" });
    fake.onAsk = (line) => {
      if (!line.includes("pageToken=") || !line.startsWith("GET /drive/v3/files?")) return;
      fake.onAsk = undefined;
      fake.expireLists();
    };
    const ledger = await openFresh();
    await drive.sync(ledger).now(signal);
    expect(ledger.files("", 2000)).toHaveLength(1500);
    ledger.close();
  });
});
