/** Every child process that works for a request is charged to it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { createExtract } from "../backends/documents/extract.ts";
import { pdf } from "../backends/documents/test-documents.ts";
import { type CostAccount, runCharged } from "../lib/cost-account.ts";
import { call, clear, testRepository } from "../sources/git/test-repository.ts";
import { createEngine } from "../sources/sqlite/engine.ts";

afterEach(clear);

interface TestAccount extends CostAccount {
  spentMs: number;
  isOpen: boolean;
}

function openAccount(): TestAccount {
  const account: TestAccount = {
    spentMs: 0,
    isOpen: true,
    charge(_unit, amount) {
      account.spentMs += amount;
    },
  };
  return account;
}

it("git is charged to whoever reads: short runs, and the process that looks up objects", async () => {
  const repository = testRepository();
  repository.commit("first", { "a.txt": "one\ntwo\n" });
  const source = await repository.open();
  await source.read({ path: "blame/HEAD/a.txt" }, call);
  const [blame, blob, ended] = [openAccount(), openAccount(), openAccount()];
  await runCharged(blame, () => source.read({ path: "blame/HEAD/a.txt" }, call));
  expect(blame.spentMs).toBeGreaterThan(0);
  await runCharged(blob, () => source.read({ path: "blob/HEAD/a.txt" }, call));
  expect(blob.spentMs).toBeGreaterThan(0);
  ended.isOpen = false;
  await runCharged(ended, () => source.read({ path: "blame/HEAD/a.txt" }, call));
  expect(ended.spentMs).toBe(0);
});

it("an extraction is charged to everyone who waits for it, and to who left; a cached text costs nothing", async () => {
  const extract = createExtract();
  onTestFinished(() => extract.close());
  const text = (account: CostAccount, signal: AbortSignal) => {
    const document = { path: "a.pdf", mimeType: "application/pdf", version: "1", bytes: Buffer.from(pdf([["one"]])) };
    return runCharged(account, () => extract.text(document, signal));
  };
  const [first, second, gone, late] = [openAccount(), openAccount(), openAccount(), openAccount()];
  const leaving = new AbortController();
  const left = text(gone, leaving.signal).catch(() => undefined);
  const both = Promise.all([text(first, call.signal), text(second, call.signal)]);
  leaving.abort();
  await Promise.all([left, both]);
  expect(first.spentMs).toBeGreaterThan(0);
  expect([second.spentMs, gone.spentMs]).toEqual([first.spentMs, first.spentMs]);
  await text(late, call.signal);
  expect(late.spentMs).toBe(0);
});

it("a query of SQLite is charged to whoever sent it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-charged-"));
  const path = join(folder, "a.db");
  const database = new DatabaseSync(path);
  database.exec("create table t (a)");
  database.close();
  const engine = createEngine({ path, immutable: false, allow: { rows: true, isFlat: true }, timeoutMs: 30_000 });
  onTestFinished(async () => {
    await engine.close();
    rmSync(folder, { recursive: true });
  });
  const [first, second] = [openAccount(), openAccount()];
  await Promise.all(
    [first, second].map((account) => runCharged(account, () => engine.query({ kind: "tables" }, call.signal))),
  );
  expect(first.spentMs).toBeGreaterThan(0);
  expect(second.spentMs).toBeGreaterThan(0);
});
