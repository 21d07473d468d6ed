import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FakeDrive } from "../../testing/fakes/gdrive.ts";
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

const openKept = (name = "ledger"): Promise<Ledger> =>
  openLedger({ file: join(folder, `${name}.sqlite`), folders: [] });

describe("following", () => {
  it("asks once for each log when nothing changed, and writes nothing", async () => {
    drive.furnish();
    const ledger = await openKept();
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

  it("is one question for all who ask meanwhile", async () => {
    const ledger = await openKept();
    const sync = drive.sync(ledger, { drives: [] });
    await sync.now(signal);
    const before = fake.asked.length;
    await Promise.all(Array.from({ length: 20 }, () => sync.now(signal)));
    // The one under way, and one for those who came later.
    expect(fake.asked.length - before).toBe(2);
    ledger.close();
  });

  it("goes on where it was after a start, without looking at everything again", async () => {
    drive.furnish();
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

  it("looks at everything again when a token is not taken any more", async () => {
    drive.furnish();
    const ledger = await openKept();
    await drive.sync(ledger).now(signal);
    drive.stir();
    fake.fail([400, "invalid"], { where: "/changes" });
    await drive.sync(ledger).now(signal);
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
  });

  it("takes what an older look says for older", async () => {
    fake.document("a", "1", { name: "first" });
    const ledger = await openKept();
    await drive.sync(ledger).now(signal);
    const old = await drive.api().file({ id: "a" }, signal);
    fake.put("a", { name: "second" });
    await drive.sync(ledger).now(signal);
    const [log] = ledger.logs;
    ledger.advance({ log: "", files: [old] }, log!.token, log!.token);
    expect(known(ledger)).toEqual({ a: "second 2" });
    ledger.close();
  });

  it("forgets everything of another account", async () => {
    fake.document("a", "1", { name: "mine" });
    const ledger = await openKept();
    await drive.sync(ledger).now(signal);
    ledger.setNote("account", "someone else");
    await drive.sync(ledger).now(signal);
    expect(known(ledger)).toEqual({ a: "mine 1" });
    expect(ledger.note("account")).toBe(`id-of-${fake.owner}`);
    ledger.close();
  });

  it("of two at once, one looks and both know", async () => {
    for (let index = 0; index < 50; index += 1) fake.put(`id-${index}`, { content: "x" });
    const [one, other] = [await openKept(), await openKept()];
    await Promise.all([drive.sync(one).now(signal), drive.sync(other).now(signal)]);
    expect(known(one)).toEqual(drive.truth());
    expect(known(other)).toEqual(drive.truth());
    expect(fake.asked.filter((line) => line.startsWith("GET /drive/v3/files?"))).toHaveLength(1);
    one.close();
    other.close();
  });
});

describe("shared drives", () => {
  it("each have a log of their own, come while one looks, and go with all that was in them", async () => {
    drive.furnish();
    const ledger = await openKept();
    const sync = drive.sync(ledger);
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "team"]);
    fake.addDrive("later", "Later");
    fake.put("l1", { content: "x", name: "l1", driveId: "later" });
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "later", "team"]);
    expect(known(ledger)).toEqual(drive.truth());
    fake.removeDrive("team");
    await sync.now(signal);
    expect(ledger.logs.map(({ name }) => name)).toEqual(["", "later"]);
    expect(known(ledger)).toEqual(drive.truth());
    ledger.close();
  });

  it("are only those that are named", async () => {
    drive.furnish();
    fake.addDrive("other", "Other");
    fake.put("o", { content: "x", driveId: "other" });
    const ledger = await openKept();
    await drive.sync(ledger, { drives: ["team"], myDrive: false }).now(signal);
    expect(Object.keys(known(ledger))).toEqual(["t1", "t2"]);
    ledger.close();
  });
});

describe("a list in which Drive has not looked everywhere", () => {
  it("is asked for again more narrowly", async () => {
    drive.furnish();
    fake.put("theirs", { content: "x", name: "theirs", owner: "x@example.org", permissions: [{ type: "user", emailAddress: fake.owner }] }); // prettier-ignore
    fake.incomplete(1);
    const ledger = await openKept();
    await drive.sync(ledger, { drives: [] }).now(signal);
    expect(Object.keys(known(ledger))).toEqual(["a", "b", "c", "theirs"]);
    ledger.close();
  });

  it("is never taken for all there is", async () => {
    drive.furnish();
    const ledger = await openKept();
    await drive.sync(ledger).now(signal);
    ledger.forgetLog("team");
    fake.incomplete(10);
    await expect(drive.sync(ledger).now(signal)).rejects.toMatchObject({ kind: "unavailable", passing: true });
    fake.incomplete(0);
    await drive.sync(ledger).now(signal);
    expect(known(ledger)).toEqual(drive.truth());
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
    await drive.sync(ledger).now(signal);
    expect(ledger.files("", 2000)).toHaveLength(1500);
    ledger.close();
  });
});
