/** The contract of a results store, for each kind. */
import { afterEach, describe, expect, it } from "vitest";
import { refusal } from "../../testing/refusal.ts";
import { measureAgreement } from "./agreement.ts";
import { createAnalysisStore } from "./create-store.ts";
import { keyOf, type AnalysisQuestion } from "./question.ts";
import { judgeQuality } from "./result.ts";
import type { ResultToStore, AnalysisStore, Summary } from "./store.ts";
import { optionsFor, resultOf } from "./test-results.ts";
import { kinds, openAt, type Place, usePlaces } from "./test-stores.ts";

const gate = optionsFor({ path: "x" }).gate;
const questionOf = (prompt: string, uri?: string): AnalysisQuestion => ({
  prompt,
  taskType: "basic",
  options: {},
  providers: [],
  models: [],
  grounding: uri === undefined ? [] : [{ uri, version: "1", isStamped: true }],
});

interface Setting {
  readonly at?: Place;
  readonly startMs?: number;
  readonly maxBytes?: number;
  readonly maxLeaseBytes?: number;
}

describe.each(kinds)("results in $name", (kind) => {
  const { place } = usePlaces(kind);
  const opened: AnalysisStore[] = [];
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  async function open({ at = place(), startMs, ...limits }: Setting = {}) {
    const { database, asked, advance, setWallClock } = await openAt(at.where, startMs);
    const store = createAnalysisStore({ database, maxBytes: 1e9, leaseMs: 1000, ...limits });
    opened.push(store);
    await store.agree();
    const { now } = database;
    const keeping = (question: AnalysisQuestion, more: Partial<ResultToStore> = {}): ResultToStore => {
      const result = resultOf();
      const agreement = measureAgreement(result);
      return {
        key: keyOf(question),
        task: question.taskType,
        title: question.prompt,
        expires: now() + 1000,
        dies: now() + 5000,
        question,
        result,
        quality: judgeQuality(result, agreement, gate),
        agreement,
        caller: { id: "test" },
        events: [],
        ...more,
      };
    };
    return { store, asked, advance, setWallClock, now, keeping, at };
  }

  // Skipped where PostgreSQL cannot be started.
  const run = it.skipIf(kind.missing !== undefined);

  run("one of all who claim a question gets it, until it is kept, failed or ended", async () => {
    const { store, advance, keeping } = await open();
    const question = questionOf("one");
    const key = keyOf(question);
    // A claim then need not wait for a connection.
    await Promise.all(Array.from({ length: 20 }, () => store.look(key)));
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.claim(key, question)));
    const [taken] = claims.flatMap((claim) => (claim.taken ? [claim.taken] : []));
    expect(claims.filter((claim) => claim.taken)).toHaveLength(1);
    expect(claims.filter(({ held }) => held?.token === taken?.token)).toHaveLength(19);

    advance(999);
    expect(await store.renew(taken!.token, key)).toMatchObject({ leftMs: 1000, question });
    expect(await store.renew(taken!.token, keyOf(questionOf("two")))).toBeUndefined();
    advance(1000);
    const { taken: second } = await store.claim(key, question);
    expect(second?.token).not.toBe(taken?.token);
    expect(await store.renew(taken!.token, key)).toBeUndefined();

    expect(await store.fail(second!.token, "the models\0 are away")).toEqual({ key: key.toString("hex") });
    expect(await store.fail(second!.token, "again")).toBeUndefined();
    expect(await store.renew(second!.token, key)).toBeUndefined();
    const { taken: third } = await store.claim(key, question);
    expect((await store.look(key)).lease).toEqual(third);

    const summary = await store.keep(keeping(question, { token: third!.token }));
    expect(await store.look(key)).toEqual({ kept: await store.find(summary.id) });
    expect(await store.claim(key, question)).toMatchObject({ kept: { id: summary.id } });
    expect(await store.lease(third!.token)).toBeUndefined();
  });

  run("a lease lasts as long as it is for, however the wall clock is set meanwhile", async () => {
    const { store, advance, setWallClock } = await open();
    const question = questionOf("one");
    const key = keyOf(question);
    for (const byMs of [-3_600_000, 24 * 3_600_000]) {
      const { taken } = await store.claim(key, question);
      setWallClock(byMs);
      advance(999);
      expect((await store.claim(key, question)).held).toMatchObject({ token: taken!.token, leftMs: 1 });
      advance(1);
      expect((await store.look(key)).lease).toMatchObject({ leftMs: 0 });
    }
  });

  run("a lease from before the shared clock began anew, or was set back, is over and takes no room", async () => {
    const { store, advance, at } = await open();
    advance(300_000);
    const [one, other] = [questionOf("one"), questionOf("x".repeat(1500))];
    expect((await store.claim(keyOf(one), one)).taken).toBeDefined();
    expect((await store.claim(keyOf(other), other)).taken).toBeDefined();
    const { store: after } = await open({ at, maxLeaseBytes: 2000 });
    expect((await after.look(keyOf(one))).lease).toMatchObject({ leftMs: 0 });
    expect((await after.claim(keyOf(one), one)).taken).toBeDefined();
    expect((await after.claim(keyOf(other), other)).taken).toBeDefined();
    expect((await after.claim(keyOf(one), one)).held).toBeDefined();
  });

  run("what is being computed is bounded, and what has ended makes room", async () => {
    const { store, advance } = await open({ maxLeaseBytes: 4000 });
    const long = "x".repeat(1000);
    const claim = (name: string) => {
      const question = questionOf(`${name} ${long}`);
      return store.claim(keyOf(question), question);
    };
    for (const name of ["a", "b", "c"]) expect((await claim(name)).taken).toBeDefined();
    const { details } = await refusal(claim("d"), ["busy"], "one too many");
    expect(details).toEqual({ retryAfterMs: 60_000 });
    advance(1000);
    expect((await claim("d")).taken).toBeDefined();
  });

  run("is found, listed by pages, told and counted, and gone when it has died", async () => {
    const { store, advance, now, keeping, at } = await open();
    const stored: Summary[] = [];
    for (const name of ["one", "two", "three", "日本語\u{1f98a}"]) {
      stored.unshift(await store.keep(keeping(questionOf(name), { events: [{ what: "tried", detail: "twice" }] })));
      advance(1);
    }
    const first = await store.page("", 2);
    const rest = await store.page(first[1]!.id, 9);
    expect([...first, ...rest]).toEqual(stored);
    expect(await store.recent({ limit: 2 })).toEqual(stored.slice(0, 2));
    const { stored: time, id } = stored[1]!;
    expect(await store.recent({ task: "basic", after: [time, id], limit: 9 })).toEqual(stored.slice(2));
    expect(await store.recent({ task: "critical", limit: 9 })).toEqual([]);
    expect(await store.summary(id)).toEqual(stored[1]);
    expect(await store.ids(id.slice(0, 20), 9)).toEqual([id]);
    expect(await store.find(id)).toMatchObject({ ...stored[1], question: questionOf("three"), result: resultOf() });
    expect(await store.events(id)).toEqual([
      { at: time, what: "tried", detail: "twice" },
      { at: time, what: "stored" },
    ]);

    const again = await store.keep(keeping(questionOf("three")));
    expect(again.id).toBe(id);
    const { last, changes } = await store.changes(0);
    expect(changes).toHaveLength(5);
    expect(changes.at(-1)).toEqual({ seq: last, kind: "changed", id });
    expect(await store.changes(last)).toEqual({ last, changes: [] });
    expect(await store.changes(-2)).toEqual({ last, changes: "lost" });
    await store.count({ basic: { hits: 2, cost_saved: 0.5 } });
    await store.count({ basic: { hits: 1 } });
    expect(await store.tallies()).toMatchObject({ results: 4, tallies: { basic: { hits: 3, cost_saved: 0.5 } } });

    const inTime = [3, 2, 0, 1].map((index) => stored[index]!.id);
    expect(await store.expired(now(), now() + 1000, 9)).toEqual({ ids: inTime });
    expect(await store.expired(now(), now() + 999, 9)).toEqual({ ids: inTime.slice(0, 3), next: again.expires });
    advance(5000);
    expect([await store.summary(id), await store.find(id), await store.page("", 9)]).toEqual([
      undefined,
      undefined,
      [],
    ]);
    expect(await store.purge()).toBe(false);
    expect(await store.tallies()).toMatchObject({ results: 0, bytes: 0 });
    for (const table of ["results", "bodies", "events", "grounds"]) expect(await at.count(table)).toBe(0);
  });

  run("is dropped by what it rests on, however long its name", async () => {
    const { store, keeping } = await open();
    const uri = `notes://${"長い名前/".repeat(1000)}`;
    const grounded = await store.keep(keeping(questionOf("grounded", uri)));
    const other = await store.keep(keeping(questionOf("other", `${uri}x`)));
    expect(await store.grounds(9)).toHaveLength(2);
    expect(await store.dropGrounded(uri, "1", "stamped", { id: "test" })).toBe(0);
    expect(await store.isGround(uri)).toBe(true);
    expect(await store.dropGrounded(uri, "2", "all", { id: "someone else" })).toBe(0);
    expect(await store.dropGrounded(uri, "2", "stamped", { id: "test" })).toBe(1);
    expect(await store.isGround(uri)).toBe(false);
    expect([await store.find(grounded.id), (await store.find(other.id))?.id]).toEqual([undefined, other.id]);
    expect((await store.tallies()).tallies[""]).toMatchObject({ invalidated: 1, results: 1 });
  });

  run("makes room for what comes, and what ends next goes first", async () => {
    const { store, keeping, now, at } = await open({ maxBytes: 8000 });
    for (let count = 0; count < 9; count += 1)
      await store.keep(keeping(questionOf(`number ${count}`), { dies: now() + 5000 - count }));
    const left = await store.page("", 99);
    expect((await store.tallies()).bytes).toBeLessThanOrEqual(8000);
    expect(left.length).toBeGreaterThan(1);
    expect(left.map(({ title }) => title)).toEqual(expect.arrayContaining(["number 0", "number 8"]));
    expect(left.map(({ title }) => title)).not.toContain("number 7");

    const { store: smaller } = await open({ at, maxBytes: 4000 });
    expect(await smaller.purge()).toBe(false);
    expect((await smaller.tallies()).bytes).toBeLessThanOrEqual(4000);
    expect((await smaller.page("", 99)).map(({ title }) => title)).toContain("number 0");
  });

  run("finds and lists by one way down an index, whatever there is", async () => {
    const { store, asked, keeping, at } = await open();
    for (let count = 0; count < 20; count += 1) await store.keep(keeping(questionOf(`number ${count}`)));
    const [some] = await store.page("", 10);
    asked.length = 0;
    await store.look(keyOf(questionOf("number 7")));
    await store.page(some!.id, 10);
    await store.recent({ after: [some!.stored, some!.id], limit: 10 });
    await store.recent({ task: "basic", after: [some!.stored, some!.id], limit: 10 });
    await store.ids(some!.id.slice(0, 12), 10);
    await store.summary(some!.id);
    expect(asked).toHaveLength(7);
    for (const statement of asked) {
      const how = await at.explain(statement);
      expect(how, statement.text).toMatch(/\busing\b/i);
      expect(how, statement.text).not.toMatch(/Seq Scan|Sort|SCAN|TEMP B-TREE/);
    }
  });
});
