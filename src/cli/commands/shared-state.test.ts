/** The commands for the shared state, on a real PostgreSQL: migrate, backup and restore. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOAuthStore, type OAuthState } from "../../auth/builtin/oauth-store.ts";
import { createSharedOAuthStore } from "../../auth/builtin/shared-oauth-store.ts";
import { auditFolder, readAuditLog } from "../../server/audit-log.ts";
import { loadSharedCursorKey } from "../../server/cursor-key.ts";
import { createSavedSets } from "../../server/sets/saved-sets.ts";
import { createTokenStore } from "../../server/token-store.ts";
import { keyNote } from "../../search/indexer.ts";
import { publishNames, readNamedMounts } from "../../search/named-mounts.ts";
import { openPostgresIndexStore } from "../../search/postgres/postgres-index-store.ts";
import { indexLease } from "../../search/index-lease.ts";
import { createPostgresLeases } from "../../state/postgres-leases.ts";
import type { RecordValue, Store } from "../../state/store.ts";
import { createPostgresStore } from "../../state/postgres-store.ts";
import { useDatabase } from "../../state/test-database.ts";
import { createStand, type RunOptions, type Stand } from "../test-command.ts";

const { missing, open, url, server, runtime } = useDatabase();
/** A config without `server`. */
const team =
  "mounts:\n  notes: { source: file, root: notes }\ncallers:\n  aki: {}\nrules:\n  - { allow: ['caller:aki'] }\n";
let stand: Stand;

beforeEach(() => {
  stand = createStand();
  stand.write("team.yaml", "server:\n  state: ${env:STATE}\n");
});
afterEach(() => stand.remove());

const run = (words: readonly string[], options: RunOptions = {}) =>
  stand.run([...words, "--config", "team.yaml"], { ...options, env: { STATE: url(), ...options.env } });

async function withStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = createPostgresStore({ database: open(), runtime });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function auditOf(store: Store): Promise<RecordValue[]> {
  const entries: RecordValue[] = [];
  for await (const entry of store.read("audit")) entries.push(entry);
  return entries;
}

/** As an instance that starts reads them. */
async function signInsOf(store: Store): Promise<OAuthState> {
  const signIns = createSharedOAuthStore(store, runtime);
  await signIns.prepare();
  return signIns.read();
}

/** What a single server would have stored. */
async function fillEmbedded() {
  const state = join(dirname(stand.folder), "state/pressmark");
  const file = join(stand.folder, "team.yaml");
  const token = await createTokenStore(state, file).create("aki", 1000);
  const sets = createSavedSets(state, { config: file }, runtime);
  await sets.put({ name: "review", resources: ["file:///a"] });
  await sets.put({ name: "own", owner: "aki", resources: ["file:///b"] });
  await createOAuthStore(state, file, () => 0).prepare();
  writeFileSync(join(state, "cursor-key"), Buffer.alloc(32, 7));
  const folder = auditFolder(state, file);
  const write = (from: number, to: number) => {
    mkdirSync(folder, { recursive: true });
    const lines = Array.from({ length: to - from }, (_each, index) => {
      const n = from + index;
      // Several at the same moment.
      const time = new Date(1_700_000_000_000 + Math.floor(n / 3)).toISOString();
      return `${JSON.stringify({ time, what: "read", outcome: "allowed", detail: String(n) })}\n`;
    });
    writeFileSync(join(folder, "audit.jsonl"), lines.join(""), { flag: "a" });
  };
  write(0, 1300);
  return { state, file, token, write, folder };
}

const drop = (name: string) => `drop the mount "${name}", which no running instance names, from the search index`;

describe.skipIf(missing)("pressmark migrate", () => {
  it("shows what is pending, applies it, and then nothing is pending", async () => {
    const shown = await run(["migrate", "--dry-run"]);
    expect(shown).toMatchObject({ code: 0, err: "" });
    expect(shown.out).toContain("pending state 1: create the tables of records, logs, leases, changes and instances\n");
    expect(await run(["migrate"])).toMatchObject({ code: 0, out: shown.out.replaceAll("pending", "applied") });
    expect((await run(["migrate"])).out).toBe(`nothing is pending in the schema ${open().schema}\n`);
  });

  it("drops the mounts of the search index that neither a running instance names nor this config", async () => {
    stand.write(
      "team.yaml",
      "server:\n  state: ${env:STATE}\nmounts:\n  own: { source: file, root: own }\n  off: { source: file, root: off, search: false }\n",
    );
    for (const folder of ["own", "off"]) stand.write(`${folder}/a.txt`, "");
    await run(["migrate"]);
    const database = open();
    const index = openPostgresIndexStore({ database });
    const names = ["gone", "held", "named", "off", "own"];
    await index.put(names.map((mount) => ({ mount, entry: { path: "a" }, text: "secret" })));
    await index.setNote(keyNote("gone"), "k1");
    const left = async () => (await index.counts()).map(({ mount }) => mount);
    const leases = createPostgresLeases({ database, instance: "1", runtime });
    await leases.tryAcquire(indexLease("held"));
    await withStore(async (records) => {
      const stop = new AbortController();
      const naming = publishNames({ records, runtime, instance: "1", signal: stop.signal });
      naming.name(["named"]);
      await expect.poll(() => readNamedMounts(records)).toEqual(new Set(["named"]));
      const shown = await run(["migrate", "--dry-run"]);
      expect(shown.out.split("\n").slice(1, -1)).toEqual(
        ["gone", "held", "off"].map((name) => `pending: ${drop(name)}`),
      );
      expect(await left()).toEqual(names);
      expect((await run(["migrate"])).out.split("\n").slice(1, -1)).toEqual([
        drop("gone").replace("drop", "dropped"),
        'kept the mount "held", which no running instance names, because one still indexes it; try again in a minute',
        drop("off").replace("drop", "dropped"),
      ]);
      expect(await left()).toEqual(["held", "named", "own"]);
      expect(await index.note(keyNote("gone"))).toBe(undefined);
      stop.abort();
      await naming.ended;
      await leases.close();
      await run(["migrate"]);
      expect(await left()).toEqual(["own"]);
    });
  });

  it("copies the state of this machine once, keeps the files, and continues with what is new", async () => {
    const { state, file, token, write, folder } = await fillEmbedded();
    const first = await run(["migrate", "--from-embedded"]);
    expect(first.code, first.err).toBe(0);
    expect(first.out.split("\n").slice(-6)).toEqual([
      "tokens: 1 copied",
      "sets: 2 copied",
      "cursor key: 1 copied",
      "sign-ins: 1 copied",
      "audit entries: 1300 copied",
      "",
    ]);
    await withStore(async (store) => {
      expect((await store.get("tokens", token.id))?.value).toMatchObject({ caller: "aki", hash: token.hash });
      expect((await store.list("sets")).map(({ key }) => key)).toEqual(['["own","aki"]', '["review"]']);
      expect((await store.get("keys", "cursor"))?.value).toEqual({ key: Buffer.alloc(32, 7).toString("base64") });
      expect((await store.get("oauth", "state"))?.value["keys"]).toHaveLength(1);
      expect((await auditOf(store)).map(({ detail }) => Number(detail))).toEqual(
        Array.from({ length: 1300 }, (_each, n) => n),
      );
      // A change there is not undone by another run.
      await store.remove("tokens", token.id);
      await store.put("tokens", token.id, { changed: true });
    });
    write(1300, 1310);
    expect((await run(["migrate", "--from-embedded"])).out.split("\n").slice(-6, -1)).toEqual([
      "tokens: 0 copied, 1 already there",
      "sets: 0 copied, 2 already there",
      "cursor key: 0 copied, 1 already there",
      "sign-ins: 0 copied, 1 already there",
      "audit entries: 10 copied, 1300 already there",
    ]);
    await withStore(async (store) => {
      expect((await store.get("tokens", token.id))?.value).toEqual({ changed: true });
      expect((await auditOf(store)).map(({ detail }) => Number(detail))).toEqual(
        Array.from({ length: 1310 }, (_each, n) => n),
      );
    });
    // Revoked and removed for all instances: another run does not bring them back.
    await withStore(async (store) => {
      await store.remove("tokens", token.id);
      await store.remove("sets", '["review"]');
    });
    expect((await run(["migrate", "--from-embedded"])).out).toContain(
      "tokens: 0 copied, 1 already there\nsets: 0 copied, 2",
    );
    await withStore(async (store) => {
      expect(await store.list("tokens")).toEqual([]);
      expect((await store.list("sets")).map(({ key }) => key)).toEqual(['["own","aki"]']);
    });
    expect(createTokenStore(state, file).list()).toHaveLength(1);
    let kept = 0;
    for await (const _entry of readAuditLog(folder)) kept += 1;
    expect(kept).toBe(1310);
  });

  it("adds the sign-ins to those of an instance that was started before, and says what was left out", async () => {
    const { state, file } = await fillEmbedded();
    const password = { salt: "a", hash: "b", cost: 1, blockSize: 1, parallelization: 1 };
    await createOAuthStore(state, file, () => 0).change(({ passwords }) => {
      passwords["aki"] = password;
      passwords["bo"] = password;
    });
    await run(["migrate"]);
    const { keys } = await withStore(async (store) => {
      await loadSharedCursorKey(store);
      const signIns = createSharedOAuthStore(store, runtime);
      await signIns.change(({ passwords }) => void (passwords["aki"] = { ...password, salt: "new" }));
      return signInsOf(store);
    });
    expect((await run(["migrate", "--from-embedded"])).out.split("\n").slice(-7, -2)).toEqual([
      "sets: 2 copied",
      "cursor key: 0 copied",
      "cursor key: left out, because the shared state has another, with which instances sign; clients that read a list page by page begin it again",
      "sign-ins: 1 copied",
      'sign-ins: left out the passwords of "aki", because the shared state has others; to set one, run: pressmark token password NAME',
    ]);
    await withStore(async (store) =>
      expect(await signInsOf(store)).toMatchObject({ keys, passwords: { aki: { salt: "new" }, bo: password } }),
    );
  });

  it("says where it looked if nothing is stored there, and takes the former path of the config", async () => {
    const { state } = await fillEmbedded();
    stand.write("moved.yaml", "server:\n  state: ${env:STATE}\n");
    const old = join(stand.folder, "team.yaml");
    rmSync(old);
    const moved = (...words: string[]) =>
      stand.run(["migrate", "--from-embedded", ...words, "--config", "moved.yaml"], { env: { STATE: url() } });
    const none = await moved();
    expect(none.code).toBe(0);
    expect(none.err).toBe(
      `pressmark: nothing is stored for the config "${join(stand.folder, "moved.yaml")}" in "${state}"; name the config of the server with --from-config; tokens or sets are stored for "${old}"\n`,
    );
    const tried = await moved("--from-config", "team.yaml", "--dry-run");
    expect(tried).toMatchObject({ code: 0, err: "" });
    expect(tried.out).toMatch(/tokens: 1 on this machine\nsets: 2 on.*\nsign-ins: 1 on.*\naudit entries: 1300 on.*\n$/);
    await withStore(async (store) => expect(await store.list("tokens")).toEqual([]));
    const copied = await moved("--from-config", "team.yaml");
    expect(copied).toMatchObject({ code: 0, err: "" });
    expect(copied.out).toContain("tokens: 1 copied\nsets: 2 copied\n");
  });

  it("names the state folder if nothing is stored there at all", async () => {
    const ran = await run(["migrate", "--from-embedded", "--dry-run"]);
    expect(ran.err).toContain("run it as the user and with the state folder (XDG_STATE_HOME) of the server");
    expect((await run(["migrate", "--from-config", "old.yaml"])).err).toContain("--from-config needs --from-embedded");
  });

  it("needs server.state, and says so", async () => {
    stand.write("plain.yaml", "server: { port: 1 }\n");
    const ran = await stand.run(["migrate", "--config", "plain.yaml"]);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain("the config has no server.state; add the URL of a PostgreSQL database");
  });

  it("connects nowhere for a config that was found and is not trusted", async () => {
    stand.write("pressmark.config.yaml", `server:\n  state: ${url()}\n`);
    const ran = await stand.run(["migrate"]);
    expect(ran.err).toContain("is not trusted yet; review it, then run: pressmark trust");
    expect(ran.err).not.toContain(server().password);
    expect(await open().query("select from pg_namespace where nspname = $1", [open().schema])).toEqual([]);
  });

  it("shows no password if the database is away", async () => {
    const ran = await run(["migrate"], { env: { STATE: url().replace(`:${server().port}/`, ":1/") } });
    expect(ran.err).toContain('no database listens there; check that it runs, and check "server.state"');
    expect(ran.err).not.toContain(server().password);
  });
});

describe.skipIf(missing)("pressmark doctor", () => {
  it("examines the shared state, and names what is broken without the password", async () => {
    await run(["migrate"]);
    const fine = await run(["doctor"]);
    expect(fine.out).toMatch(/^ok +state: PostgreSQL 18/m);
    expect(fine.out).toMatch(/^ok +bus: PostgreSQL carried a message/m);
    expect(fine.out).toMatch(/^ok +instances: none is running/m);
    expect(fine.out).toMatch(/^ok +index: in the shared database, schema test_\d+: 0 of 1 mounts complete/m);
    const away = await run(["doctor"], { env: { STATE: url().replace(`:${server().port}/`, ":1/") } });
    expect(away.code).toBe(1);
    expect(away.out).toMatch(/^BROKEN +state: no database listens there/m);
    expect(away.out + away.err).not.toContain(server().password);
  });

  it("creates nothing in the database, and examines everything else without the tables", async () => {
    stand.write("notes/a.md", "text");
    stand.write("team.yaml", `${team}server:\n  state: \${env:STATE}\n`);
    const ran = await run(["doctor"]);
    expect(ran.out).toMatch(/^hint +state tables: \d+ migrations are pending/m);
    expect(ran.out).toMatch(/^ok +bus: PostgreSQL carries the changes; the first instance creates the tables$/m);
    expect(ran.out).toMatch(/^ok +mount notes: 1 resources, listed, read and watched$/m);
    expect(ran.out).toMatch(/^ok +index: in the shared database; the first instance creates its tables$/m);
    expect(ran.out).toMatch(/aki has no valid token/);
    expect(ran.out).not.toContain("BROKEN");
    expect(await open().query("select from pg_namespace where nspname = $1", [open().schema])).toEqual([]);
  });

  it("changes no record, knows the shared tokens, and is not listed as an instance", async () => {
    stand.write("notes/a.md", "text");
    stand.write("team.yaml", `${team}server:\n  state: \${env:STATE}\n`);
    await run(["token", "create", "aki"]);
    const tables = ["migrations", "records", "logs", "leases", "instances"];
    const contents = () => Promise.all(tables.map((name) => open().query(`select * from ${name} order by 1, 2`)));
    const before = await contents();
    const ran = await run(["doctor"]);
    expect(ran.out).toMatch(/^ok +bus: PostgreSQL carried a message/m);
    expect(ran.out).not.toContain("aki has no valid token");
    expect(await contents()).toEqual(before);
  });
});

describe.skipIf(missing)("pressmark backup and restore", () => {
  it("move the shared state to another schema, by a file or a pipe", async () => {
    await fillEmbedded();
    await run(["migrate", "--from-embedded"]);
    const saved = await run(["backup", "state.jsonl"]);
    expect(saved).toMatchObject({ code: 0, out: "", err: "pressmark: saved 10 records and 1300 log entries\n" });
    expect(statSync(join(stand.folder, "state.jsonl")).mode & 0o777).toBe(0o600);
    const text = readFileSync(join(stand.folder, "state.jsonl"), "utf8");
    const lastLine = text.trimEnd().split("\n").at(-1);
    expect((await run(["backup", "-"])).out.split("\n").length).toBe(text.split("\n").length);

    const refused = await run(["restore", "state.jsonl"]);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/already contains 10 records and 1300 log entries; add --replace/);
    expect((await run(["restore", "state.jsonl", "--replace"])).code).toBe(0);

    const elsewhere = { env: { STATE: `${url()}_other` } };
    const restored = await run(["restore", "-"], { ...elsewhere, input: text });
    expect(restored).toMatchObject({ code: 0, err: "pressmark: restored 10 records and 1300 log entries\n" });
    const again = await run(["backup", "-"], elsewhere);
    expect(again.out.trimEnd().split("\n").slice(1, -1)).toEqual(text.trimEnd().split("\n").slice(1, -1));
    expect(lastLine).toMatch(/"sha256":"[0-9a-f]{64}"/);
  });

  it("keep the keys with which running instances sign", async () => {
    await fillEmbedded();
    await run(["migrate", "--from-embedded"]);
    await run(["backup", "state.jsonl"]);
    await withStore(async (store) => {
      const saved = await signInsOf(store);
      await store.remove("oauth", "state");
      const running = await signInsOf(store);
      expect(running.keys).not.toEqual(saved.keys);
      const clients = { app: { metadata: {}, created: Date.now() } };
      await store.put("oauth", "state", { ...running, clients });
      expect((await run(["restore", "state.jsonl", "--replace"])).code).toBe(0);
      expect(await signInsOf(store)).toEqual({ ...saved, keys: running.keys, cookieKeys: running.cookieKeys });
    });
  });

  it("never overwrite a file, and leave none behind that is incomplete", async () => {
    stand.write("mine.jsonl", "mine");
    expect((await run(["backup", "mine.jsonl"])).err).toContain("exists; choose another name");
    expect(readFileSync(join(stand.folder, "mine.jsonl"), "utf8")).toBe("mine");
    // The tables do not exist.
    expect((await run(["backup", "new.jsonl"])).err).toContain('run "pressmark migrate"');
    expect(() => statSync(join(stand.folder, "new.jsonl"))).toThrow(/ENOENT/);
  });

  it("name what is no backup before they look at the schema", async () => {
    await fillEmbedded();
    await run(["migrate", "--from-embedded"]);
    stand.write("notes.txt", "hello\n");
    stand.write("empty", "");
    await run(["backup", "state.jsonl"]);
    stand.write("state.gz", gzipSync(readFileSync(join(stand.folder, "state.jsonl"))));
    for (const file of ["notes.txt", "empty"])
      expect((await run(["restore", file])).err).toContain("this is not a backup of Pressmark");
    expect((await run(["restore", "state.gz"])).err).toContain("gunzip -c FILE | pressmark restore -");
  });

  it("create no tables for a damaged file", async () => {
    await fillEmbedded();
    await run(["migrate", "--from-embedded"]);
    const { out } = await run(["backup", "-"]);
    const env = { STATE: `${url()}_other` };
    const ran = await run(["restore", "-"], { env, input: out.slice(0, -10) });
    expect(ran.err).toContain("damaged or incomplete");
    expect(await open().query("select from pg_namespace where nspname = $1", [`${open().schema}_other`])).toEqual([]);
  });

  it("change nothing if the file is cut or missing", async () => {
    await fillEmbedded();
    await run(["migrate", "--from-embedded"]);
    await run(["backup", "state.jsonl"]);
    const text = readFileSync(join(stand.folder, "state.jsonl"), "utf8");
    stand.write("cut.jsonl", text.slice(0, -10));
    expect((await run(["restore", "cut.jsonl", "--replace"])).err).toContain("damaged or incomplete");
    expect((await run(["restore", "absent.jsonl", "--replace"])).err).toContain("cannot be read");
    await withStore(async (store) => expect(await store.list("sets")).toHaveLength(2));
  });
});
