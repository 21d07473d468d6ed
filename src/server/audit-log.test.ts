import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type AuditEntry, createAuditLog, readAuditLog } from "./audit-log.ts";

const folders: string[] = [];
const logged: string[] = [];
const runtime = { now: () => 1_800_000_000_000, log: (_level: string, message: string) => void logged.push(message) };

function folderFor(): string {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-audit-"));
  folders.push(folder);
  return folder;
}

async function entriesIn(folder: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readAuditLog(folder)) entries.push(entry);
  return entries;
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  logged.length = 0;
});

it("writes what happened in order, without queries, in a file that only the user can read", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime });
  audit.write({ what: "read", caller: "aki", outcome: "allowed", uri: "docs://a", rule: 1, bytes: 5 });
  audit.write({ what: "search", caller: "aki", outcome: "allowed", query: "給与", count: 2 });
  await audit.close();
  expect(await entriesIn(folder)).toEqual([
    {
      time: "2027-01-15T08:00:00.000Z",
      what: "read",
      caller: "aki",
      outcome: "allowed",
      uri: "docs://a",
      rule: 1,
      bytes: 5,
    },
    { time: "2027-01-15T08:00:00.000Z", what: "search", caller: "aki", outcome: "allowed", count: 2 },
  ]);
  expect(statSync(join(folder, "audit.jsonl")).mode & 0o077).toBe(0);
});

it("stores queries, and hashes instead of URIs, if the config says so", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime, hashUris: true, queries: true });
  audit.write({ what: "search", outcome: "allowed", uri: "docs://secret-plan", query: "給与" });
  await audit.close();
  const text = readFileSync(join(folder, "audit.jsonl"), "utf8");
  expect(text).not.toContain("secret-plan");
  expect((await entriesIn(folder))[0]).toMatchObject({
    uri: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    query: "給与",
  });
});

it("begins a new file when one is full, and keeps as many as configured", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime, maxBytes: 1024, maxFiles: 3 });
  for (let count = 0; count < 60; count++) {
    audit.write({ what: "read", outcome: "allowed", uri: `docs://${String(count).padStart(100, "0")}` });
    await audit.close();
  }
  expect(readdirSync(folder)).toHaveLength(3);
  const uris = (await entriesIn(folder)).map(({ uri }) => Number(uri!.slice("docs://".length)));
  expect(uris).toEqual(uris.map((_, index) => 60 - uris.length + index));
});

it("reads past a line that was cut", async () => {
  const folder = folderFor();
  const audit = createAuditLog({ folder, runtime });
  audit.write({ what: "read", outcome: "allowed" });
  await audit.close();
  appendFileSync(join(folder, "audit.jsonl"), '{"time":"20\n');
  audit.write({ what: "watch", outcome: "allowed" });
  await audit.close();
  expect((await entriesIn(folder)).map(({ what }) => what)).toEqual(["read", "watch"]);
});

it("says once that it cannot be written", async () => {
  const folder = join(folderFor(), "file");
  writeFileSync(folder, "");
  const audit = createAuditLog({ folder, runtime });
  for (let count = 0; count < 3; count++) {
    audit.write({ what: "read", outcome: "allowed" });
    await audit.close();
  }
  expect(logged).toEqual(["the audit log cannot be written; what happens is not recorded"]);
});
