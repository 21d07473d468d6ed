/** The shared index beside the embedded one, with documents of many passages: more than a search reads. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { migrate } from "../../state/migrate.ts";
import { openDatabase } from "../../state/open-database.ts";
import { stateMigrations } from "../../state/tables.ts";
import { useDatabase } from "../../state/test-database.ts";
import { openStore } from "../sqlite-store.ts";
import type { AsyncIndexStore, IndexedDocument, IndexStore, StoreHit, StoreQuery } from "../store.ts";
import { createVisibility, type Visibility } from "../visibility.ts";
import { openPostgresIndexStore } from "./postgres-index-store.ts";
import { searchMigrations } from "./tables.ts";

const test = useDatabase();

const sections = (count: number, text: string): string =>
  Array.from({ length: count }, (_, at) => `# Part ${at}\n\n${text}\n\n`).join("");
const document = (path: string, text: string, audience: "user" | "assistant" = "user"): IndexedDocument => ({
  mount: "docs",
  entry: { path, annotations: { audience: [audience] } },
  text,
});
const toComparable = ({ entry: { path }, isMatch, tier }: StoreHit) => ({ path, isMatch, tier });
const last = 699;
const pathOf = (at: number): string => `${at % 2 === 0 ? "even" : "odd"}/${String(at).padStart(3, "0")}.md`;

describe.skipIf(test.missing)("documents of many passages", () => {
  let folder: string;
  let embedded: IndexStore;
  let shared: AsyncIndexStore;
  let close: () => Promise<void>;
  let visibility: Visibility;
  let fewVisible: Visibility;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-many-"));
    embedded = openStore(join(folder, "index.db"));
    const database = openDatabase({ url: test.url(), runtime: test.runtime });
    await migrate(database, [...stateMigrations, ...searchMigrations]);
    close = () => database.close();
    shared = openPostgresIndexStore({ database });
    const all = Array.from({ length: last + 1 }, (_, at) =>
      at === last
        ? document(pathOf(at), `${sections(60, "weekly report")}# Zeppelin\n\nA zeppelin report.\n`, "assistant")
        : document(pathOf(at), sections(at % 2 === 0 ? 40 : 60, "weekly report")),
    );
    // "tea" is frequent in other documents.
    all.push(...Array.from({ length: 3500 }, (_, at) => document(`other/${at}`, "tea kettle")));
    all.push(document("team/kettle.md", `${sections(200, "tea")}# A\n\nsecret tea merger`));
    for (let at = 0; at < all.length; at += 350) {
      await shared.put(all.slice(at, at + 350));
      embedded.put(all.slice(at, at + 350));
    }
    const ids = await shared.addresses(0, 100_000);
    const see = (isSeen: (path: string) => boolean): Visibility => {
      const seen = createVisibility();
      seen.decide(
        ids.at(-1)!.id,
        ids.filter(({ path }) => isSeen(path)).map(({ id }) => id),
      );
      return seen;
    };
    visibility = see((path) => path !== "team/kettle.md");
    fewVisible = see((path) => !path.startsWith("other/"));
  }, 120_000);
  afterAll(async () => {
    embedded.close();
    await close();
    rmSync(folder, { recursive: true });
  });

  const requests: readonly StoreQuery[] = [
    // 18,000 passages: all of them are read.
    { text: "zeppelin report", limit: 3, within: "odd" },
    { text: "path:odd zeppelin report", limit: 3 },
    // 35,000.
    { text: "weekly zeppelin report", limit: 3 },
    { text: "path:md zeppelin report", limit: 3 },
    { text: "path:md zeppelin report -merger", limit: 3 },
    { text: "secret tea", limit: 3, within: "team" },
    { text: "secret tea", limit: 3 },
  ];
  it.each(requests)("are found: %j", async (request) => {
    const [wanted, found] = [embedded.search(request), await shared.search(request)];
    expect(found.length).toBe(wanted.length);
    expect(toComparable(found[0]!)).toEqual(toComparable(wanted[0]!));
    expect(wanted[0]!.isMatch).toBe(true);
  });

  it("are found by callers who see a part of the mount", async () => {
    for (const seen of [visibility, fewVisible]) {
      const found = await shared.search({ text: "zeppelin report", limit: 3, visibility: seen });
      expect(found.map(toComparable)[0]).toEqual({ path: pathOf(last), isMatch: true, tier: 1 });
    }
    expect((await shared.search({ text: "secret merger", limit: 3, visibility })).length).toBe(0);
  });

  it("are found in their order by a query without words, however many do not pass", async () => {
    const findAll = async (text: string, more: Partial<StoreQuery> = {}) => {
      const request = { text, limit: 3, ...more };
      const [wanted, found] = [embedded.search(request), await shared.search(request)];
      expect(found.map(toComparable), text).toEqual(wanted.map(toComparable));
      return found.map(({ entry }) => entry.path);
    };
    expect(await findAll("audience:assistant")).toEqual([pathOf(last)]);
    expect(await findAll("audience:assistant", { within: "odd" })).toEqual([pathOf(last)]);
    expect(await findAll('audience:assistant -"weekly tea"')).toEqual([pathOf(last)]);
    expect(await findAll('audience:user -"weekly report"', { limit: 70 })).toHaveLength(70);
    expect(await findAll('audience:user -"weekly report" -kettle')).toEqual([]);
    expect(await findAll("path:md", { limit: 200 })).toHaveLength(200);
    const found = await shared.search({ text: "audience:assistant", limit: 3, visibility });
    expect(found.map(({ entry }) => entry.path)).toEqual([pathOf(last)]);
  }, 60_000);
});
