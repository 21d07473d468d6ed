/** Results in a PostgreSQL server that several machines share: permissions, notifications, and lost connections. */
import { afterEach, describe, expect, it } from "vitest";
import { toResourceError } from "../../errors.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { Call } from "../../resources.ts";
import type { Source, SourceChange, Runtime } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { refusal } from "../../testing/refusal.ts";
import definition from "../analysis.ts";
import { createAnalysisStore } from "./create-store.ts";
import { openAnalysisDatabase } from "./open-database.ts";
import { keyOf } from "./question.ts";
import { optionsFor, question, resultOf, type Where } from "./test-results.ts";
import { kinds, openAt, usePlaces } from "./test-stores.ts";

const kind = kinds[1]!;
const saying = (what: string, id: unknown) => (change: SourceChange) =>
  change.kind === what && "path" in change && change.path === `results/${id}`;

describe.skipIf(kind.missing)(`results in PostgreSQL (${kind.missing ?? "real"})`, () => {
  const { place, server } = usePlaces(kind);
  const opened: Source[] = [];
  let stop = new AbortController();
  const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });
  afterEach(async () => {
    stop.abort();
    stop = new AbortController();
    for (const source of opened.splice(0)) await source.close?.();
  });

  /** An instance that polls so rarely that everything it knows in time comes from notifications. */
  async function open(
    where: Where,
    more: Readonly<Record<string, unknown>> = {},
    log: Runtime["log"] = () => undefined,
  ) {
    const options = optionsFor(where, { pollMs: 3_600_000, ...more });
    const source = await definition.open(options, { ...createRuntime(process.stderr), log });
    opened.push(source);
    const { find_analysis: find, store_analysis: keep } = source.actions!;
    return {
      source,
      find: async (input: object = {}) =>
        (await find!.run({ ...question, claim: true, acceptStale: false, waitMs: 0, ...input }, call())).value,
      keep: async (input: object = {}) =>
        (await keep!.run({ ...question, result: resultOf(), ...input }, call())).value,
    };
  }

  it("other processes see immediately what is written, written again and dropped", async () => {
    const { where } = place();
    const [one, other] = [await open(where), await open(where)];
    const heard = collectChanges(await one.source.watch!(call()));
    const grounding = [{ uri: "https://example.com/spec", version: "1" }];
    const { id } = await other.keep({ grounding });
    await heard.until(saying("appeared", id), "that it appeared");
    await other.keep({ grounding });
    await heard.until(saying("changed", id), "that it changed");
    const store = createAnalysisStore({
      database: await openAnalysisDatabase(optionsFor(where), createRuntime(process.stderr)),
      maxBytes: 1e9,
      leaseMs: 1000,
    });
    await store.dropGrounded("https://example.com/spec", undefined, "all", call().caller);
    await store.close();
    await heard.until(saying("gone", id), "that it is gone");
  });

  it("each process detects expiry by its own clock", async () => {
    const { where } = place();
    const [one, other] = [await open(where), await open(where, { ttlMs: { basic: 1000 } })];
    const { id } = await other.keep();
    const heard = collectChanges(await one.source.watch!(call()));
    await heard.until(saying("changed", id), "that it expired");
    expect(await one.find({ acceptStale: true })).toMatchObject({ status: "stale", id });
  });

  it("a waiting caller in another process gets the stored result, or is told to compute after a failure", async () => {
    const { where } = place();
    const [one, other] = [await open(where), await open(where)];
    const { lease } = await one.find();
    const waiting = other.find({ waitMs: 20_000 });
    await one.keep({ lease, prompt: undefined, taskType: undefined });
    expect(await waiting).toMatchObject({ status: "hit", result: resultOf() });

    const second = await one.find({ prompt: "another" });
    const next = other.find({ prompt: "another", waitMs: 20_000 });
    await one.keep({ lease: second["lease"], result: undefined, failed: "away" });
    expect(await next).toMatchObject({ status: "compute" });
  });

  it("continues when the server comes back, and reports writes of others again", async () => {
    const { where } = place();
    const warned = Promise.withResolvers<void>();
    const [one, other] = [await open(where, {}, () => warned.resolve()), await open(where)];
    const { id } = await one.keep();
    await server().stop("immediate");
    expect((await refusal(one.find(), ["unavailable"], "no server")).passing).toBe(true);
    await warned.promise;
    await server().start();
    expect(await one.find()).toMatchObject({ status: "hit", id });
    expect(await other.find()).toMatchObject({ status: "hit", id });
    const heard = collectChanges(await one.source.watch!(call()));
    const { id: later } = await other.keep({ prompt: "afterwards" });
    await heard.until(saying("appeared", later), "that it appeared");
  });

  it("closes immediately, whatever is running", async () => {
    const { where } = place();
    const opening = await open(where);
    const requested = opening.find().then(
      () => "answered",
      (cause: unknown) => toResourceError(cause).kind,
    );
    await opening.source.close?.();
    expect(["answered", "cancelled"]).toContain(await requested);
    for (let turns = 0; turns < 8; turns += 1) {
      const { source, find } = await open(where);
      await find({ claim: false });
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      await source.close?.();
    }
  });

  it("machines whose clocks differ by an hour agree on freshness and on who computes", async () => {
    const { where } = place();
    const [one, late] = [await openAt(where), await openAt(where, 1_700_003_600_000)];
    const stores = [one, late].map(({ database }) =>
      createAnalysisStore({ database, maxBytes: 1e9, leaseMs: 600_000 }),
    );
    await Promise.all(stores.map((store) => store.agree()));
    expect(Math.abs(one.database.now() - late.database.now())).toBeLessThan(60_000);
    const requested = { ...question, options: {}, providers: [], models: [], grounding: [] };
    const key = keyOf(requested);
    const { taken } = await stores[0]!.claim(key, requested);
    expect((await stores[1]!.claim(key, requested)).held?.token).toBe(taken!.token);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("a role that may not create its schema is told what an administrator should run, and then it works", async () => {
    const { schema } = place().where as { readonly schema: string };
    await server().run("postgres", `CREATE ROLE small_${schema} LOGIN PASSWORD 'planted-secret'`);
    const where = { url: server().url("postgres", `small_${schema}`, "planted-secret"), schema };
    const { find } = await open(where);
    const { message } = await refusal(find(), ["unavailable"], "a small role");
    const advice = /run: (CREATE SCHEMA .*)$/.exec(message)?.[1];
    expect(advice).toBe(`CREATE SCHEMA ${schema} AUTHORIZATION "small_${schema}"`);
    await server().run("postgres", advice!);
    expect(await find()).toMatchObject({ status: "compute" });

    await server().run("postgres", `REVOKE ALL ON ALL TABLES IN SCHEMA ${schema} FROM small_${schema}`);
    const refused = await refusal(find(), ["unavailable"], "a role that may not write");
    expect(refused.message).toContain(`may not write to the schema "${schema}"`);
  });

  it("any other database is rejected with errors that contain no password", async () => {
    const { schema, url } = place().where as { readonly schema: string; readonly url: string };
    await server().run("postgres", `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.format (number int)`);
    const { password, port } = server();
    for (const [where, expected] of [
      [{ url, schema }, 'choose another "schema"'],
      [{ url: url.replace(password, "planted-secret"), schema }, "rejects the user or the password"],
      [{ url: `postgres://postgres:planted-secret@127.0.0.1:${port}/nowhere`, schema }, 'check "url"'],
      [{ url: "postgres://postgres:planted-secret@127.0.0.1:1/nowhere", schema }, "no database listens there"],
    ] as const) {
      const error = await refusal((await open(where)).find(), ["unavailable"], expected);
      expect(error.message).toContain(expected);
      expect(`${error.message} ${String(error.cause)}`).not.toMatch(new RegExp(`planted-secret|${password}`));
    }
    await expect(open({ url: "http://x:planted-secret@y/z", schema })).rejects.toThrow(
      /^"url" must start with postgres/,
    );
  });
});

it("a mount without a file and without a database cannot be opened", async () => {
  const runtime = createRuntime({ write: () => true });
  await expect(openAnalysisDatabase(optionsFor({} as Where), runtime)).rejects.toThrow(/^set "path", a file, or "url"/);
});

it.each([
  [{ path: "x", url: "postgres://h/d" }, "set only one of"],
  [{ url: "postgres://h/d", schema: 'x"; drop' }, "must consist of small letters"],
])("a mount has a file or a database, and a plain schema name (%j)", (options, says) => {
  expect(() => optionsFor(options as Where)).toThrow(says);
});
