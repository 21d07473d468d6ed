/** Checks a running cluster through its proxy, and kills one instance to see that requests are still answered. */
import { execFile } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { setTimeout as wait } from "node:timers/promises";
import { ask, askFor, listen, type McpTarget } from "./mcp.ts";
import type { Cluster } from "./start-cluster.ts";

const run = promisify(execFile);
const program = join(import.meta.dirname, "../../bin/pressmark.js");
/** Revocations reach every instance within 10 seconds, also if nothing announces them. */
const limitMs = 30_000;

/** Throws if a check fails. */
export async function checkCluster(cluster: Cluster, say: (line: string) => void): Promise<void> {
  const proxy: McpTarget = { url: cluster.url, token: cluster.token };
  const direct = cluster.instances.map(({ url }): McpTarget => ({ url, token: cluster.token }));
  const uri = pathToFileURL(join(cluster.notes, "harbour.md")).href;

  save(cluster, "harbour.md", "# Harbour\n\nThe lighthouse was painted in 1921.\n");
  const uris = (await askFor(proxy, "resources/list", {}))["resources"] as readonly { readonly uri: string }[];
  expect(
    uris.some((each) => each.uri === uri),
    "the list has the new file",
  );
  expect((await textOf(proxy, uri)).includes("1921"), "it can be read");
  await until("search finds it", async () => JSON.stringify(await search(proxy, "lighthouse")).includes("harbour"));
  say("list, read and search work through the proxy");

  const stop = new AbortController();
  const told = cluster.instances.map(() => false);
  await Promise.all(
    direct.map((target, at) =>
      listen(
        target,
        { resourceSubscriptions: [uri] },
        { notice: () => void (told[at] = true), ended: () => undefined },
        stop.signal,
      ),
    ),
  );
  save(cluster, "harbour.md", "# Harbour\n\nThe lighthouse was painted in 2026.\n");
  await until(
    "listeners at all instances receive the change",
    () => told.every(Boolean),
    () => told.join(", "),
  );
  stop.abort();
  for (const target of direct) expect((await textOf(target, uri)).includes("2026"), `${target.url} reads the new text`);
  say("one change was announced by all three instances");

  const created = await pressmark(cluster, "token", "create", "aki");
  const asAki = (target: McpTarget): McpTarget => ({ ...target, token: created });
  await until("every instance accepts the token", () =>
    every(direct, async (each) => (await list(asAki(each))) === 200),
  );
  await pressmark(cluster, "token", "revoke", "aki");
  await until("every instance refuses the token", () =>
    every(direct, async (each) => (await list(asAki(each))) === 401),
  );
  say("a token that was revoked once is refused by all");

  await askFor(proxy, "tools/call", { name: "save_set", arguments: { name: "first-day", uris: [uri] } });
  await until("every instance has the set", () =>
    every(direct, async (each) => (await ask(each, "resources/read", { uri: "set://first-day" })).result !== undefined),
  );
  say("a set that was saved once is at all instances");

  await cluster.instances[0]!.process.end("SIGKILL");
  for (let request = 0; request < 30; request += 1)
    expect((await textOf(proxy, uri)).includes("2026"), "reads are answered after an instance was killed");
  await cluster.instances[0]!.restart();
  await until("the instance that was started again answers", async () => (await list(direct[0]!)) === 200);
  say("requests are answered while an instance is not running");

  const token = await pressmark(cluster, "token", "create", "bo");
  const asBo = (target: McpTarget): McpTarget => ({ ...target, token });
  await until("every instance accepts the token of bo", () =>
    every(direct, async (each) => (await list(asBo(each))) === 200),
  );
  await cluster.database.process.end("SIGQUIT");
  await until("every instance refuses stored tokens", () =>
    every(direct, async (each) => (await list(asBo(each))) === 503),
  );
  for (let round = 0; round < 20; round += 1) {
    const refused = await Promise.all(Array.from({ length: 6 }, () => list(asBo(proxy))));
    expect(
      refused.every((status) => status === 503),
      `the answer to a stored token is passed on: ${refused.join(", ")}`,
    );
    expect((await textOf(proxy, uri)).includes("2026"), "the owner reads while others are refused");
    expect((await ask(proxy, "tools/list", {})).status === 200, "the owner lists tools while others are refused");
    expect(
      (await ask(proxy, "tools/call", { name: "read_resource", arguments: { uri } })).result !== undefined,
      "the owner calls a tool while others are refused",
    );
  }
  await cluster.database.restart();
  await until("the stored token is accepted again", async () => (await list(asBo(proxy))) === 200);
  say("the owner is served while the database is away");
}

function save(cluster: Cluster, name: string, text: string): void {
  mkdirSync(cluster.notes, { recursive: true });
  writeFileSync(join(cluster.notes, `.${name}~`), text);
  renameSync(join(cluster.notes, `.${name}~`), join(cluster.notes, name));
}

async function textOf(target: McpTarget, uri: string): Promise<string> {
  const { contents } = await askFor(target, "resources/read", { uri });
  return (contents as readonly { readonly text: string }[])[0]!.text;
}

function search(target: McpTarget, query: string): Promise<Record<string, unknown>> {
  return askFor(target, "tools/call", { name: "search_resources", arguments: { query } });
}

async function list(target: McpTarget): Promise<number> {
  return (await ask(target, "resources/list", {})).status;
}

async function pressmark({ env, config }: Cluster, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [program, ...words, "--config", config], { env });
  return stdout.trim();
}

async function every<T>(items: readonly T[], holds: (item: T) => Promise<boolean>): Promise<boolean> {
  return (await Promise.all(items.map(holds))).every(Boolean);
}

async function until(what: string, holds: () => boolean | Promise<boolean>, seen?: () => string): Promise<void> {
  const from = performance.now();
  while (!(await holds())) {
    if (performance.now() - from > limitMs)
      throw new Error(`waited ${limitMs / 1000} s until ${what}${seen ? `: ${seen()}` : ""}`);
    await wait(100);
  }
}

function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`the check failed: ${what}`);
}
