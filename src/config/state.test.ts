/** The settings of the shared state: their form, what they need trust for, and that no password is shown. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Config } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { asksFor } from "./trust.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-state-config-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function load(server: object, named = true): Promise<Config> {
  const file = join(root, "pressmark.config.json");
  writeFileSync(file, JSON.stringify({ server }));
  const env = { STATE: "postgres://u:planted@db.example/app?schema=team" };
  const loaded = await loadConfig({ file, named }, { from: root, env, stateFolder: join(root, "state") });
  if ("untrusted" in loaded) throw new Error(asksFor(loaded.untrusted));
  return loaded.config;
}

it("takes URLs and references, and shows no password", async () => {
  const config = await load({ state: "${env:STATE}", bus: "nats://u:planted@bus.example" });
  expect(config.server).toEqual({
    state: "postgres://u:planted@db.example/app?schema=team",
    bus: "nats://u:planted@bus.example",
  });
  expect(JSON.stringify(config.shown)).not.toContain("planted");
  expect(JSON.stringify(config.shown)).toContain("bus.example");
});

it.each([
  [
    { state: "postgres://u@h/db?password=planted&schema=team", bus: "nats://planted@h" },
    { state: "postgres://u@h/db?password=••••&schema=team", bus: "nats://••••@h" },
  ],
  [
    { state: "postgres://h/db?user=u&p%61ssword=planted", bus: "tls://planted:@h?replicas=3" },
    { state: "postgres://h/db?user=u&p%61ssword=••••", bus: "tls://••••@h?replicas=3" },
  ],
  [
    { state: "postgres://u:x/plan#ted planted@h/db", bus: "nats://x/planted@a,b" },
    { state: "postgres://u:••••@h/db", bus: "nats://••••@a,b" },
  ],
])("shows %j without what is secret", async (server, shown) => {
  const config = await load(server);
  expect(config.shown["server"]).toEqual(shown);
  const { withheld } = await load(server, false);
  expect(JSON.stringify(withheld)).not.toContain("planted");
});

it("does not take a part of a token for the host", async () => {
  const { withheld } = await load({ state: "postgres://h/db", bus: "nats://planted,x@bus.example,other" }, false);
  expect(withheld[0]?.reasons).toContain('sends the names of what changes to "nats://bus.example"');
});

it.each([
  [{ state: "mysql://u:planted@h/db" }, /server\.state: must be the URL of a PostgreSQL database/],
  [{ state: "postgres://h/db", bus: "redis://u:planted@h" }, /server\.bus: must be the URL of a NATS server/],
  [{ bus: "nats://u:planted@h" }, /server\.bus: needs server\.state/],
])("refuses %j, without repeating it", async (server, message) => {
  const error = await load(server).then(
    () => undefined,
    (cause: unknown) => String(cause),
  );
  expect(error).toMatch(message);
  expect(error).not.toContain("planted");
});

it("connects nowhere for a config that was found, until it is trusted", async () => {
  const { server, withheld } = await load(
    { port: 1, state: "postgres://u:planted@db.example/app", bus: "tls://b.example" },
    false,
  );
  expect(server).toEqual({ port: 1 });
  expect(withheld[0]?.reasons).toEqual([
    'stores what it remembers, and the index of what it serves, in the database at "postgres://db.example"',
    'sends the names of what changes to "tls://b.example"',
  ]);
  expect(JSON.stringify(withheld)).not.toContain("planted");
});

it("reads no variable for a config that was found, until it is trusted", async () => {
  const { server, withheld } = await load({ state: "${env:STATE}", bus: "nats://h" }, false);
  expect(server).toEqual({});
  expect(JSON.stringify(withheld)).toContain('reads the environment variable \\"STATE\\" for server.state');
});
