/** Rows as documents in the assembled product: found by search, under the rules of their table, masked, followed, and not shown without their database. */
import { execFile } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { missingFor, type PostgresServer, startPostgres } from "../../test/live/postgres.ts";
import type { Call } from "../resources.ts";
import { openServer, type Server } from "./open-server.ts";

const flavour = "npm";
const token = ["ghp", "_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("");
const rows = `
  CREATE TABLE tickets (id integer PRIMARY KEY, 件名 text, 本文 text);
  INSERT INTO tickets VALUES (1, '証明書の更新', '来月で期限が切れます。'), (2, 'ログイン', 'パスワードを忘れました。'), (3, '連携', 'トークンは ${token} です。');`;
const documents = [{ table: "tickets", title: "件名", text: ["本文"] }];
const kinds = ["postgres", "sqlite"] as const;

const deny = (caller: string, paths: string[]) => ({ deny: [`caller:${caller}`], mounts: kinds, paths });
const as = (id: string): Call => ({
  caller: { id, ...(id === "me" && { owner: true }) },
  signal: AbortSignal.timeout(20_000),
});

describe.skipIf(missingFor(flavour))(`rows as documents (${missingFor(flavour) ?? "PostgreSQL runs"})`, () => {
  let root: string;
  let postgres: PostgresServer;
  let sqlite: DatabaseSync;
  let server: Server;
  const env = () => ({ HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") });

  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-rows-")));
    sqlite = new DatabaseSync(join(root, "app.db"), { timeout: 20_000 });
    sqlite.exec(rows);
    postgres = await startPostgres(flavour);
    await postgres.run("postgres", rows);
    const common = { rows: ["tickets"], documents, pollMs: 100 };
    const config = {
      mounts: {
        postgres: { source: "postgres", url: postgres.url("postgres"), ...common },
        sqlite: { source: "sqlite", path: "app.db", ...common },
      },
      redact: true,
      callers: { aki: {}, ben: {} },
      rules: [{ allow: ["anyone"] }, deny("aki", ["**/tickets/rows/1"]), deny("ben", ["**/tickets"])],
    };
    writeFileSync(join(root, "pressmark.yaml"), JSON.stringify(config));
    const shared = { folders: [], config: join(root, "pressmark.yaml"), from: root, env: env() };
    server = await openServer({ ...shared, live: true, err: { write: () => true } });
    await server.index.caughtUp({ signal: AbortSignal.timeout(60_000) });
  }, 90_000);
  afterAll(async () => {
    await server?.close();
    await postgres?.close();
    sqlite?.close();
    rmSync(root, { recursive: true, force: true });
  });

  const uriOf = (kind: (typeof kinds)[number], path: string) =>
    kind === "sqlite" ? `sqlite://app.db/${path}` : `postgres://127.0.0.1:${postgres.port}/postgres/public/${path}`;
  async function found(text: string, kind: (typeof kinds)[number], id = "me") {
    const { hits } = await server.resources.search({ text, limit: 10 }, as(id));
    return hits.filter(({ resource }) => resource.uri.startsWith(`${kind}:`) && resource.uri.includes("/rows"));
  }
  const foundTitles = async (text: string, kind: (typeof kinds)[number], id?: string) =>
    (await found(text, kind, id)).map(({ resource }) => resource.title);
  const run = async (kind: (typeof kinds)[number], sql: string) =>
    kind === "sqlite" ? sqlite.exec(sql) : postgres.run("postgres", sql);
  async function textOf(uri: string, id = "me"): Promise<string> {
    const { contents } = await server.resources.read(uri, as(id));
    return contents.map(({ body }) => ("text" in body ? body.text : "")).join("");
  }

  it.each(kinds)("are found in Japanese with their title and read at their URI: %s", async (kind) => {
    const [hit] = await found("証明書の更新", kind);
    expect(hit?.resource).toMatchObject({ uri: uriOf(kind, "tickets/rows/1"), title: "証明書の更新" });
    expect(JSON.parse(await textOf(hit!.resource.uri))).toMatchObject({ rows: [{ 件名: "証明書の更新" }] });
    expect(await textOf(`${hit!.resource.uri}?as=text`)).toBe("# 証明書の更新\n\n来月で期限が切れます。\n");
  });

  it.each(kinds)("are hidden with their table, their rows, or alone: %s", async (kind) => {
    expect(await foundTitles("証明書の更新", kind, "aki")).toEqual([]);
    expect(await foundTitles("パスワード", kind, "aki")).toEqual(["ログイン"]);
    expect(await foundTitles("パスワード", kind, "ben")).toEqual([]);
    for (const [id, path] of [
      ["aki", "tickets/rows/1"],
      // A page would show the hidden row.
      ["aki", "tickets/rows"],
      ["aki", "tickets/rows?key=1"],
      ["ben", "tickets/rows/2"],
      ["ben", "tickets/rows/2?as=text"],
    ] as const)
      await expect(textOf(uriOf(kind, path), id), `${id} reads ${path}`).rejects.toMatchObject({ kind: "not-found" });
    expect(await textOf(uriOf(kind, "tickets/rows/2"), "aki")).toContain("ログイン");
    const [template] = (await server.resources.templates({}, as("aki"))).items.filter(
      ({ uriTemplate }) => uriTemplate.startsWith(kind) && uriTemplate.includes("{key}"),
    );
    const given = { schema: "public", table: "tickets" };
    const request = { template: template!.uriTemplate, variable: "key", value: "", given };
    expect((await server.resources.complete(request, as("aki"))).values).toEqual(["3", "2"]);
    expect((await server.resources.complete(request, as("ben"))).values).toEqual([]);
  });

  it.each(kinds)("are masked: %s", async (kind) => {
    const [hit] = await found("連携", kind);
    const text = await textOf(`${hit!.resource.uri}?as=text`);
    expect(text).toContain("トークンは");
    expect(text + JSON.stringify(hit) + (await textOf(hit!.resource.uri))).not.toContain(token);
    expect(await found(token, kind)).toEqual([]);
  });

  it.each(kinds)("are followed when they are inserted, updated and deleted: %s", async (kind) => {
    const until = async (text: string, titles: readonly string[]) =>
      vi.waitFor(async () => expect(await foundTitles(text, kind)).toEqual(titles), { timeout: 20_000, interval: 50 });
    await run(kind, "INSERT INTO tickets VALUES (20, '請求書', '金額が違います。')");
    await until("金額", ["請求書"]);
    // Twice: reads are cached by version.
    for (let time = 0; time < 2; time += 1) expect(await textOf(uriOf(kind, "tickets/rows/20"))).toContain("金額");
    await run(kind, "UPDATE tickets SET 件名 = '見積書', 本文 = '宛名が違います。' WHERE id = 20");
    await until("宛名", ["見積書"]);
    await until("金額", []);
    expect(await textOf(uriOf(kind, "tickets/rows/20"))).toContain("宛名");
    await run(kind, "DELETE FROM tickets WHERE id = 20");
    await until("宛名", []);
  });

  it("are found by the program", async () => {
    const program = join(import.meta.dirname, "../../bin/pressmark.js");
    const pressmark = async (...args: string[]) =>
      (
        await promisify(execFile)(process.execPath, [program, ...args, "--config", join(root, "pressmark.yaml")], {
          env: { ...process.env, ...env() },
        })
      ).stdout;
    const uri = uriOf("postgres", "tickets/rows/1");
    expect(await pressmark("search", "証明書の更新")).toContain(uri);
    expect(await pressmark("read", uri)).toContain("来月で期限が切れます。");
  });

  it("are not shown without their database, which is named", async () => {
    await postgres.stop();
    await vi.waitFor(
      async () => {
        const { hits, failures, ready } = await server.resources.search({ text: "証明書の更新", limit: 10 }, as("me"));
        expect(hits.map(({ resource }) => resource.uri)).toEqual([uriOf("sqlite", "tickets/rows/1")]);
        expect(failures?.map(({ mount }) => mount)).toEqual(["postgres"]);
        expect(ready).toBeLessThan(1);
      },
      { timeout: 20_000, interval: 50 },
    );
    await postgres.start();
    await vi.waitFor(async () => expect(await foundTitles("証明書の更新", "postgres")).toEqual(["証明書の更新"]), {
      timeout: 20_000,
      interval: 50,
    });
  });
});
