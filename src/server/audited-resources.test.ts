import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { cancelled } from "../errors.ts";
import type { Call, Relayed, Resources } from "../resources.ts";
import { createTestStore } from "../state/test-store.ts";
import { type AuditEntry, type AuditEvent, createAuditLog, readAuditLog } from "./audit-log.ts";
import { createAuditedResources } from "./audited-resources.ts";
import { createSharedAuditLog, readSharedAuditLog } from "./shared-audit-log.ts";

const call: Call = { caller: { id: "ann" }, signal: new AbortController().signal };
const stop = () => Promise.reject(cancelled());

it("records calls that were cancelled, because they may have run, but not cancelled reads", async () => {
  const relayed = { callTool: stop, getPrompt: stop } as unknown as Relayed;
  const inner = { read: stop, search: stop, act: stop, relayed } as unknown as Resources;
  const events: AuditEvent[] = [];
  const audited = createAuditedResources(inner, { write: (event) => void events.push(event) }, () => undefined);
  const what = { mount: "notes", name: "add" };
  const input = { clientCapabilities: {} };
  for (const running of [
    audited.read("note://a", call),
    audited.search({ text: "x", limit: 1 }, call),
    audited.act!(what, {}, call),
    audited.relayed!.callTool(what, {}, input, call),
    audited.relayed!.getPrompt(what, {}, input, call),
  ])
    await expect(running).rejects.toMatchObject({ kind: "cancelled" });
  expect(events).toMatchObject([
    { what: "act", caller: "ann", detail: "notes/add", outcome: "failed" },
    { what: "act", caller: "ann", detail: "notes/add", outcome: "failed" },
    { what: "act", caller: "ann", detail: "notes/add (prompt)", outcome: "failed" },
  ]);
});

const logged: string[] = [];
const runtime = { now: () => 1_800_000_000_000, log: (_level: string, message: string) => void logged.push(message) };
const names = Array.from({ length: 10_000 }, (_each, number) => `note://${number}`);
/** Can read everything, and watches what it is asked to watch. */
const resources = {
  read: async (uri: string) => ({ contents: [{ uri, body: { text: "x" } }] }),
  watch: async ({ uris = [] }: { readonly uris?: readonly string[] }) => ({ uris }),
} as unknown as Resources;

async function allOf(log: AsyncIterable<AuditEntry>): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of log) entries.push(entry);
  return entries;
}

function urisOf(entries: readonly AuditEntry[]): string[] {
  return entries.flatMap(({ uri, uris = [] }) => (uri === undefined ? uris : [uri, ...uris]));
}

it("records a read beside a listen to as many resources as one may name, and all of those", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-audit-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const audit = createAuditLog({ folder, runtime });
  const audited = createAuditedResources(resources, audit, () => undefined);
  await audited.watch({ uris: names }, call);
  await audited.read("note://secret", call);
  await audit.close();
  const entries = await allOf(readAuditLog(folder));
  expect(urisOf(entries)).toEqual([...names, "note://secret"]);
  // One request of a caller does not use the room for the entries of others.
  expect(entries.length).toBeLessThanOrEqual(101);
  expect(logged).toEqual([]);
});

it("lets reads wait while more is written than the log keeps in memory, and loses none", async () => {
  const store = createTestStore();
  const gate = Promise.withResolvers<void>();
  const append: typeof store.append = (...given) => gate.promise.then(() => store.append(...given));
  const audit = createSharedAuditLog({ shared: { instance: "one", store: { ...store, append } }, runtime });
  const audited = createAuditedResources(resources, audit, () => undefined);
  let answered = 0;
  const reads = [...names, "note://one more", "note://secret"].map((uri) =>
    audited.read(uri, call).then(() => (answered += 1)),
  );
  await expect.poll(() => answered).toBeGreaterThan(9000);
  // Each of these would be answered, and not be recorded, if the process ended now.
  expect(answered).toBeLessThanOrEqual(names.length);
  gate.resolve();
  await Promise.all(reads);
  await audit.close();
  const uris = urisOf(await allOf(readSharedAuditLog(store)));
  expect(uris.slice(-2)).toEqual(["note://one more", "note://secret"]);
  expect(uris).toHaveLength(10_002);
  expect(logged).toEqual([]);
});
