/** Connections: with TLS, and to something that is not a server. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { missingFor, type PostgresServer, startPostgres } from "../../../test/live/postgres.ts";
import type { Call } from "../../resources.ts";
import type { Source } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { asking } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import definition, { openPostgres } from "../postgres.ts";

let stop: AbortController;
const opened: Source[] = [];
beforeEach(() => {
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
});
const call = (): Call => ({ caller: { id: "test" }, signal: stop.signal });

function open(settings: { readonly url: string; readonly timeoutMs?: number; readonly ca?: string }): Source {
  const source = openPostgres(definition.options(z).parse(settings), createClock().runtime);
  opened.push(source);
  return source;
}

/** Databases that accept connections with TLS only, and without TLS only; and a socket for one operating system user. */
const rules = `
  hostssl   encrypted all all scram-sha-256
  hostnossl plain     all all scram-sha-256
  local     peers     all     peer
  host      postgres  all all scram-sha-256
  local     postgres  all     scram-sha-256`;

describe.skipIf(missingFor("debian"))(`PostgreSQL behind TLS (${missingFor("debian") ?? "real"})`, () => {
  let server: PostgresServer;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-tls-"));
    const make = (...given: string[]) => execFileSync("openssl", given, { cwd: folder, stdio: "pipe" });
    const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    make("req", "-x509", ...key, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem");
    make("req", ...key.slice(0, -2), "-subj", "/CN=db.example", "-keyout", "server.key", "-out", "server.csr");
    make(
      "x509",
      "-req",
      "-in",
      "server.csr",
      "-CA",
      "ca.pem",
      "-CAkey",
      "ca.key",
      "-CAcreateserial",
      "-days",
      "2",
      "-out",
      "server.pem",
    );
    server = await startPostgres("debian", {
      settings: [
        "hba_file = 'FOLDER/pg_hba.conf'",
        "ssl = on",
        "ssl_cert_file = 'FOLDER/server.pem'",
        "ssl_key_file = 'FOLDER/server.key'",
      ],
      files: {
        "pg_hba.conf": rules,
        ...Object.fromEntries(
          ["server.pem", "server.key"].map((name) => [name, readFileSync(join(folder, name), "utf8")]),
        ),
      },
    });
  }, 60_000);
  const list = (mode: string, settings: { readonly ca?: string } = {}) =>
    open({ url: `${server.url("postgres")}?sslmode=${mode}`, ...settings }).list(asking(1), call());
  afterAll(async () => {
    await server?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is connected as sslmode demands, and rejected if the certificate is not valid", async () => {
    const ca = join(folder, "ca.pem");
    for (const requested of [list("require"), list("require", { ca }), list("verify-ca", { ca }), list("disable")])
      expect((await requested).items).not.toHaveLength(0);
    for (const requested of [() => list("verify-full", { ca }), () => list("verify-ca"), () => list("verify-full")]) {
      const error = await refusal(requested(), ["unavailable"], "not proven");
      expect(error).toMatchObject({ passing: false, message: expect.stringContaining("certificate") });
    }
    expect(() => list("always")).toThrow(/one of disable, allow, prefer, require, verify-ca, verify-full/);
    expect(() => list("verify-full", { ca: join(folder, "none.pem") })).toThrow(/"ca"/);
  });

  it("tries with and without TLS in the order of libpq's modes, and says what a refusal means", async () => {
    for (const name of ["encrypted", "plain"]) await server.run("postgres", `CREATE DATABASE ${name}`);
    const listed = (database: string, mode: string) =>
      open({ url: `${server.url(database)}?sslmode=${mode}` }).list(asking(1), call());
    for (const mode of ["allow", "prefer"])
      for (const database of ["encrypted", "plain", "postgres"])
        expect((await listed(database, mode)).items).not.toHaveLength(0);
    const plain = await refusal(listed("encrypted", "disable"), ["denied"], "plain");
    expect(plain.message).toContain("set sslmode=verify-full");
    expect((await refusal(listed("plain", "require"), ["denied"], "TLS")).message).toContain("sslmode");
    const wrong = server.url("encrypted", "postgres", "wrong");
    expect(
      (await refusal(open({ url: `${wrong}?sslmode=prefer` }).list(asking(1), call()), ["denied"], "")).message,
    ).toContain("password");
    const client = await server.connect("postgres");
    const isEncrypted = async (mode: string) => {
      const source = open({ url: `${server.url("postgres")}?sslmode=${mode}&application_name=mode-${mode}` });
      await source.list(asking(1), call());
      const { rows } = await client.query(
        "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1 AND state = 'idle'",
        [`mode-${mode}`],
      );
      return rows.map(({ ssl }: { readonly ssl: boolean }) => ssl);
    };
    try {
      expect([await isEncrypted("prefer"), await isEncrypted("allow")]).toEqual([[true], [false]]);
    } finally {
      await client.end();
    }
  });

  it("is connected through the socket that the url names, whatever its sslmode", async () => {
    const query = `host=${server.folder}&port=${server.port}`;
    const secret = encodeURIComponent(server.password);
    for (const url of [
      `postgres://postgres:${secret}@/postgres?${query}`,
      `postgres://postgres:${secret}@db.example:1/postgres?${query}&sslmode=verify-full`,
      `postgres:///postgres?${query}&user=postgres&password=${secret}`,
      `postgres://postgres:${secret}@${encodeURIComponent(server.folder)}:${server.port}/postgres`,
    ])
      expect((await open({ url }).list(asking(1), call())).items).not.toHaveLength(0);
    // Without a user, libpq's default is the user of the operating system.
    const own = userInfo().username;
    await server.run("postgres", "CREATE DATABASE peers");
    await server.run("postgres", `${own === "postgres" ? "" : `CREATE ROLE "${own}" LOGIN;`} CREATE ROLE other LOGIN`);
    expect((await open({ url: `postgres:///peers?${query}` }).list(asking(1), call())).items).not.toHaveLength(0);
    const other = open({ url: `postgres://other@/peers?${query}` }).list(asking(1), call());
    expect((await refusal(other, ["denied"], "another user")).message).toContain("peer authentication");
  });
});

describe("something that is not a server", () => {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });

  async function talking(result: (socket: Socket) => void): Promise<string> {
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      result(socket);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `postgres://u:planted-secret@127.0.0.1:${(server.address() as AddressInfo).port}/db`;
  }

  it.each<[string, (socket: Socket) => void]>([
    ["hangs up", (socket) => socket.destroy()],
    ["speaks HTTP", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
    [
      "talks nonsense",
      (socket) =>
        socket.on("data", () => socket.write(Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 99, 1, 2, 3, 255, 255, 255, 255]))),
    ],
    [
      "is ready and then talks nonsense",
      (socket) => {
        const ready = Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 0, 90, 0, 0, 0, 5, 73]);
        socket.once("data", () => {
          socket.write(ready);
          socket.on("data", () => socket.end(Buffer.from("T\0\0\0\u0006\0\u0001nonsense beyond all measure")));
        });
      },
    ],
    [
      "answers rows that no one asked for",
      (socket) => socket.on("data", () => socket.end(Buffer.from([68, 0, 0, 0, 6, 0, 0]))),
    ],
  ])("and %s is rejected, and harms nothing else", async (_, result) => {
    const source = open({ url: await talking(result), timeoutMs: 200 });
    for (const requested of [
      () => source.list(asking(1), call()),
      () => source.read({ path: "public/t/schema" }, call()),
    ]) {
      const error = await refusal(requested(), ["unavailable", "unexpected", "denied"], "nonsense");
      expect(`${error.message} ${String(error.cause)}`).not.toContain("planted-secret");
    }
  });
});
