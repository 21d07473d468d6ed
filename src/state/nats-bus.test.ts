/** What is special about a bus in NATS: URLs, credentials, TLS, and streams that operators change. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { queryObjects } from "node:v8";
import { connect } from "@nats-io/transport-node";
import { jetstreamManager } from "@nats-io/jetstream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { natsMissing, type NatsServer, startNats } from "../../test/live/nats.ts";
import { startTcpProxy } from "../../test/live/tcp-proxy.ts";
import type { Bus } from "./bus.ts";
import { publishTimeoutMs } from "./bus-limits.ts";
import type { SharedDatabase } from "./database.ts";
import { migrate } from "./migrate.ts";
import { type StreamNames, streamNames } from "./nats-connection.ts";
import { readServerId } from "./server-id.ts";
import { parseNatsUrl } from "./nats-url.ts";
import { openBus } from "./open-bus.ts";
import { stateMigrations } from "./tables.ts";
import { listenTo } from "./test-bus-listener.ts";
import { testRuntime } from "./test-buses.ts";
import { failureOf, useDatabase } from "./test-database.ts";

describe("the URL of NATS", () => {
  it.each([
    ["nats://127.0.0.1", { servers: ["127.0.0.1:4222"], isTls: false, replicas: 1 }],
    ["nats://t%40ken@a:1,b", { servers: ["a:1", "b:4222"], isTls: false, replicas: 1, token: "t@ken" }],
    ["tls://u:p%3A:q@[::1]:5/", { servers: ["[::1]:5"], isTls: true, replicas: 1, user: "u", pass: "p::q" }],
    ["tls://h?replicas=3&ca=/a.pem", { servers: ["h:4222"], isTls: true, replicas: 3, authority: "/a.pem" }],
  ])("%s is understood", (url, target) => {
    expect(parseNatsUrl(url)).toEqual(target);
  });

  it.each([
    "http://user:secret@a",
    "nats://",
    "nats://user:secret@a/path",
    "nats://user:secret@a b",
    "nats://user:secret%@a",
    "nats://user:secret@a?replicas=9",
    "nats://user:secret@a?other=sec",
    "nats://user:12?secret@a",
    "nats://user:secret@a:port",
    "nats://user:sec@ret@a",
    "tls://user:1?ca=secret@a",
  ])("%s is refused, and the error contains no part of it", (url) => {
    let message = "";
    try {
      parseNatsUrl(url);
    } catch (cause) {
      message = (cause as Error).message;
    }
    expect(message).toContain('"server.bus"');
    expect(message).not.toContain("sec");
  });
});

describe("a bus in NATS", () => {
  const test = useDatabase();
  const missing = natsMissing() ?? test.missing;
  if (missing !== undefined) return it.skip(`is not tested: ${missing}`, () => undefined);
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0).toReversed()) await each.close();
  });

  async function start(config?: string, files?: Readonly<Record<string, string>>): Promise<NatsServer> {
    const server = await startNats(config, files);
    opened.push(server);
    return server;
  }

  async function prepare(): Promise<SharedDatabase> {
    const database = test.open();
    await migrate(database, stateMigrations);
    return database;
  }

  /** What this test's server has in NATS. */
  async function names(): Promise<StreamNames> {
    return streamNames(test.open().schema, (await readServerId(test.open()))!);
  }

  async function open(url: string, logged: string[] = []): Promise<Bus> {
    const database = await prepare();
    const bus = await openBus({ url, database, runtime: testRuntime(logged), instance: "test" });
    opened.push(bus);
    return bus;
  }

  it("signs in with a token", async () => {
    const { port } = await start(`authorization { token: "a@token" }`);
    const bus = await open(`nats://a%40token@127.0.0.1:${port}`);
    const listener = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await listener.until(1);
  });

  it("logs once that the password is refused, and no secret", async () => {
    const { port } = await start(`authorization { user: "pressmark", password: "right" }`);
    const logged: string[] = [];
    const bus = await open(`nats://pressmark:the-wrong-one@127.0.0.1:${port}`, logged);
    const error = await failureOf(bus.publish({ topic: "a", body: 1, fence: 0 }));
    expect(error).toMatchObject({ kind: "unavailable", message: expect.stringContaining("could not be sent to NATS") });
    expect(logged).toEqual([expect.stringContaining('refuses the user, password or token of "server.bus"')]);
    expect(`${error.message} ${logged.join()}`).not.toContain("the-wrong-one");
  });

  it.each([
    ["for the account", "accounts { A: { users: [{ user: u, password: p }] } }"],
    ["at all", "authorization { user: u, password: p }\njetstream: false"],
  ])("says that JetStream is not turned on %s", async (_where, config) => {
    const server = await start(config);
    const logged: string[] = [];
    const bus = await open(`nats://u:p@127.0.0.1:${server.port}`, logged);
    expect((await failureOf(bus.publish({ topic: "a", body: 1, fence: 0 }))).kind).toBe("unavailable");
    expect(logged).toEqual([expect.stringContaining("offers no JetStream")]);
  });

  it.each([
    ["of an older version", (schema: string) => [`pressmark_${schema}`, `pressmark.${schema}.>`]],
    ["of another program", () => ["everything", "pressmark.>"]],
  ])("names the stream %s that receives its subjects, and is connected once it is removed", async (_whose, named) => {
    const { port } = await start();
    const { schema } = await prepare();
    const [name = "", subject = ""] = named(schema);
    const connection = await connect({ port });
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: "unrelated", subjects: ["other.>"] });
    await streams.add({ name, subjects: [subject] });
    const logged: string[] = [];
    const bus = await open(`nats://127.0.0.1:${port}`, logged);
    await vi.waitFor(() => expect(logged).not.toEqual([]), { timeout: 40_000 });
    const { stream, prefix } = await names();
    expect(logged).toEqual([
      expect.stringContaining(
        `the stream "${name}" in NATS receives the subjects of this server, "${prefix}>"; if no older instance and no other program uses it, remove it`,
      ),
    ]);
    await streams.delete(name);
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    expect((await streams.info(stream)).state.messages).toBe(1);
    await connection.close();
  });

  it("logs also a lasting failure that follows a passing one", async () => {
    const { port, kill, start: startAgain } = await start();
    const connection = await connect({ port });
    const { streams } = await jetstreamManager(connection);
    await streams.add({ name: "everything", subjects: ["pressmark.>"] });
    await connection.close();
    await kill();
    const logged: string[] = [];
    await open(`nats://127.0.0.1:${port}`, logged);
    await vi.waitFor(() => expect(logged.join()).toContain("NATS is not reachable"), { timeout: 40_000 });
    await startAgain();
    await vi.waitFor(() => expect(logged.join()).toContain('the stream "everything"'), { timeout: 40_000 });
    expect(logged.length).toBe(2);
  });

  it("uses TLS, and refuses a server that the authority did not sign", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pressmark-tls-"));
    opened.push({ close: async () => rmSync(folder, { recursive: true }) });
    const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, "-keyout", key, "-out", certificate],
      { stdio: "ignore" },
    );
    const files = { "key.pem": readFileSync(key, "utf8"), "certificate.pem": readFileSync(certificate, "utf8") };
    const { port } = await start(`tls { cert_file: "FOLDER/certificate.pem", key_file: "FOLDER/key.pem" }`, files);
    const bus = await open(`tls://127.0.0.1:${port}?ca=${encodeURIComponent(certificate)}`);
    const listener = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await listener.until(1);
    const logged: string[] = [];
    const distrustful = await open(`tls://127.0.0.1:${port}`, logged);
    await vi.waitFor(() => expect(logged.join()).toContain("NATS is not reachable"), { timeout: 40_000 });
    expect(distrustful.status.isConnected).toBe(false);
  });

  it("keeps nothing of each message on a connection that lasts", async () => {
    const bus = await open(`nats://127.0.0.1:${(await start()).port}`);
    const publishMany = async (): Promise<number> => {
      for (let body = 0; body < 1000; body += 1) await bus.publish({ topic: "a", body, fence: 0 });
      return queryObjects(Promise, { format: "count" });
    };
    const before = await publishMany();
    expect((await publishMany()) - before).toBeLessThan(500);
  });

  /** A bus that was never connected, and whose publishes end at once. */
  async function openAway(): Promise<Bus> {
    const { port, kill } = await start();
    await kill();
    const runtime = testRuntime();
    const wait = async (ms: number, signal: AbortSignal): Promise<void> => {
      if (ms !== publishTimeoutMs) await runtime.wait(ms, signal);
    };
    const bus = await openBus({
      url: `nats://127.0.0.1:${port}`,
      database: await prepare(),
      runtime: { ...runtime, wait },
      instance: "test",
    });
    opened.push(bus);
    return bus;
  }

  it.each<[string, (bus: Bus) => Promise<void>]>([
    [
      "of a message that it could not send",
      async (bus) => {
        const error = await failureOf(bus.publish({ topic: "a", body: 1, fence: 0 }));
        expect(error.message).toContain("could not be sent to NATS");
      },
    ],
    [
      "of a subscriber that has left",
      async (bus) => {
        const stop = new AbortController();
        const subscribed = failureOf(
          bus.subscribe("a", { message: () => undefined, gap: () => undefined }, stop.signal),
        );
        stop.abort();
        expect((await subscribed).kind).toBe("cancelled");
      },
    ],
  ])("keeps nothing %s while NATS is away", async (_what, call) => {
    const bus = await openAway();
    const callMany = async (): Promise<void> => {
      for (let count = 0; count < 200; count += 1) await call(bus);
    };
    await callMany();
    const before = queryObjects(Promise, { format: "count" });
    await callMany();
    await expect.poll(() => queryObjects(Promise, { format: "count" }) - before).toBeLessThan(100);
  });

  it("reports a gap when the stream was removed, and creates it again", async () => {
    const { port } = await start();
    const bus = await open(`nats://127.0.0.1:${port}`);
    const listener = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await listener.until(1);
    const connection = await connect({ port });
    const { streams } = await jetstreamManager(connection);
    const { stream, prefix } = await names();
    await streams.delete(stream);
    await listener.untilGap();
    await bus.publish({ topic: "a", body: 2, fence: 0 });
    await listener.until(2);
    const { config } = await streams.info(stream);
    expect(config).toMatchObject({ subjects: [`${prefix}>`], storage: "file", max_age: 600_000_000_000 });
    await connection.close();
  });

  it("reports a gap when another stream has the same numbers", async () => {
    const { port } = await start();
    const proxy = await startTcpProxy(port);
    opened.push(proxy);
    const bus = await open(`nats://127.0.0.1:${proxy.port}`);
    const listener = await listenTo(bus, "a");
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await listener.until(1);
    proxy.setClosed(true);
    const connection = await connect({ port });
    const { streams } = await jetstreamManager(connection);
    const { stream, prefix } = await names();
    const { config } = await streams.info(stream);
    await streams.delete(stream);
    await streams.add(config);
    await connection.request(`${prefix}other`, "[0,1]");
    proxy.setClosed(false);
    await listener.untilGap();
    await connection.close();
  });

  it("reports a gap for a message of another program", async () => {
    const { port } = await start();
    const bus = await open(`nats://127.0.0.1:${port}`);
    const listener = await listenTo(bus, "a");
    const connection = await connect({ port });
    const { prefix } = await names();
    connection.publish(`${prefix}${Buffer.from("a").toString("base64url")}`, "not JSON");
    connection.publish(`${prefix}two.tokens`, "anything");
    await listener.untilGap();
    await bus.publish({ topic: "a", body: 1, fence: 0 });
    await listener.until(1);
    expect(listener.seen).toEqual(["gap", 1]);
    await connection.close();
  });

  it("has nothing to do with that of another server, even of one with the same schema in another database", async () => {
    const { port } = await start();
    await test.server().run("postgres", "create database staging encoding 'UTF8' template template0");
    const bus = await open(`nats://127.0.0.1:${port}`);
    const staging = test.open({ url: test.url().replace("/postgres?", "/staging?") });
    await migrate(staging, stateMigrations);
    const url = `nats://127.0.0.1:${port}`;
    const other = await openBus({ url, database: staging, runtime: testRuntime(), instance: "test" });
    opened.push(other);
    const [listener, foreign] = [await listenTo(bus, "a"), await listenTo(other, "a")];
    await other.publish({ topic: "a", body: "staging", fence: 7 });
    await bus.publish({ topic: "a", body: "production", fence: 1 });
    await Promise.all([listener.until("production"), foreign.until("staging")]);
    expect([listener.seen, foreign.seen]).toEqual([["production"], ["staging"]]);
  });

  it("needs no permissions but those for its schema", async () => {
    const schema = (await prepare()).schema;
    const subjects = `["pressmark.${schema}.>", "$JS.API.>", "_INBOX.>"]`;
    const { port } = await start(
      `authorization { users = [{ user: u, password: p, permissions: { publish: ${subjects}, subscribe: ${subjects} } }] }`,
    );
    const bus = await open(`nats://u:p@127.0.0.1:${port}`);
    const listener = await listenTo(bus, "a");
    for (let body = 1; body <= 300; body += 1) await bus.publish({ topic: "a", body, fence: 1 });
    await listener.until(300);
  });
});
