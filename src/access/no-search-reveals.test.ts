/** Searching an index reveals nothing that read refuses: results are those that there would be if hidden resources did not exist, in the same order. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notFound, toResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { type Call, directoryType } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import type { SearchIndex } from "../search/search-index.ts";
import { openStore } from "../search/sqlite-store.ts";
import type { IndexStore } from "../search/store.ts";
import { createVisibility } from "../search/visibility.ts";
import type { Entry, Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import type { Policy } from "./policy.ts";

interface File {
  readonly text: string;
  /** Target of a link. */
  readonly link?: string;
}

interface Plan {
  readonly files: Readonly<Record<string, File>>;
  readonly hidden: readonly { readonly path: string; readonly below: boolean }[];
  /** Share of the mount that is indexed. */
  readonly ready: number;
  /** Removed since it was indexed. */
  readonly gone: readonly string[];
}

const segment = fc.constantFrom("a", "b", "tea", "x%y", "茶");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
const words = fc
  .array(
    fc.constantFrom("tea", "cup", "milk", "お茶", "kettle", "kettla", "kettlo", "さくら", "サクラ", "いさくらい"),
    { maxLength: 4 },
  )
  .map((texts) => texts.join(" "));
const plan: fc.Arbitrary<Plan> = fc.record({
  files: fc.dictionary(path, fc.record({ text: words, link: fc.option(path, { nil: undefined, freq: 4 }) }), {
    maxKeys: 12,
    noNullPrototype: true,
  }),
  hidden: fc.array(fc.record({ path, below: fc.boolean() }), { maxLength: 8 }),
  ready: fc.constantFrom(0, 0.5, 1),
  gone: fc.array(path, { maxLength: 4 }),
});

let folder: string;
/** One with hidden documents and one without. Shared by all servers, each under its own name: creating one for each would take the longest. */
let stores: readonly [full: IndexStore, bare: IndexStore];
let servers = 0;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-reveals-"));
  stores = [openStore(join(folder, "full.db")), openStore(join(folder, "bare.db"))];
});

afterAll(() => {
  for (const store of stores) store.close();
  rmSync(folder, { recursive: true, force: true });
});

function ancestorsOf(at: string): string[] {
  const segments = at.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

const isBelow = (at: string, above: string) => at === above || at.startsWith(`${above}/`);

interface Furniture {
  readonly files: ReadonlyMap<string, File>;
  /** Directories stay even if nothing in them is visible. */
  readonly directories: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
  readonly ready: number;
  readonly policy: Policy;
  readonly store: IndexStore;
}

function open({ files, directories, gone, ready, policy, store }: Furniture) {
  const own = `m${(servers += 1)}`;
  const entries = [...files.keys()].toSorted(compareAddresses).map((at): Entry => {
    const { text, link } = files.get(at)!;
    return { path: at, mimeType: "text/plain", version: text, ...(link !== undefined && { reveals: { path: link } }) };
  });
  const documents = entries.map((entry) => ({ mount: own, entry, text: files.get(entry.path)!.text }));
  if (documents.length > 0) store.put(documents);
  const there = entries.filter((entry) => !gone.has(entry.path));
  const source: Source = {
    list: async () => ({ items: there }),
    async read({ path: at }) {
      const file = gone.has(at) ? undefined : files.get(at);
      if (!file) throw notFound(at);
      return [{ body: { text: file.text }, ...(file.link !== undefined && { reveals: { path: file.link } }) }];
    },
    async stat({ path: at, query }) {
      const found = there.find((entry) => entry.path === at);
      if (found && !query) return found;
      if (!query && directories.has(at)) return { path: at, mimeType: directoryType };
      throw notFound(at);
    },
    templates: [{ template: "{+path}", name: "any" }],
  };
  const index: SearchIndex = {
    ready: () => ready,
    problem: () => undefined,
    async search({ viewer, ...ask }) {
      const visibility = createVisibility();
      const all = store.addresses(0, 10_000);
      const visible = all.filter((each) => each.mount === own && viewer!.maySee({ ...each, mount: "m" }));
      visibility.decide(
        all.at(-1)?.id ?? 0,
        visible.map(({ id }) => id),
      );
      return store.search({ ...ask, mounts: [own], visibility }).map((hit) => ({ ...hit, mount: "m" }));
    },
  };
  const pressmark = createResources({
    mounts: [{ name: "m", base: "m://", source }],
    policy,
    index,
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });
  return { pressmark, own };
}

async function outcome(asked: Promise<unknown>): Promise<unknown> {
  try {
    return await asked;
  } catch (cause) {
    const { kind, message, details } = toResourceError(cause);
    return { kind, message, details };
  }
}

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };
const encode = (at: string) => at.split("/").map(encodeURIComponent).join("/");

describe("search in an index", () => {
  it("returns visible hits, as many as requested, and reveals nothing else", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ files, hidden, ready, gone }) => {
        // A path with something below it is a directory.
        const all = new Map(
          Object.entries(files).filter(([at]) => !Object.keys(files).some((other) => other.startsWith(`${at}/`))),
        );
        const isHidden = (at: string) =>
          hidden.some((rule) => (rule.below ? isBelow(at, rule.path) : at === rule.path));
        const isVisible = ([at, { link }]: [string, File]) => !isHidden(at) && (link === undefined || !isHidden(link));
        const policy: Policy = { maySee: (_, __, at) => !isHidden(at.path), visibilityKey: () => "me" };
        // A complete index knows what is gone.
        const away = new Set(ready === 1 ? [] : gone);
        const directories = new Set(["", ...[...all.keys()].flatMap(ancestorsOf)]);
        const furniture = { directories, gone: away, ready, policy };
        const real = open({ ...furniture, store: stores[0], files: all });
        const bare = open({ ...furniture, store: stores[1], files: new Map([...all].filter(isVisible)) });

        for (const text of [
          "tea",
          "お茶",
          "さくら",
          "サクラ tea",
          "te",
          "path:tea",
          '"milk tea"',
          "cup -milk",
          "kettle",
          "tea cup milk",
          "mime:text/plain",
        ]) {
          const ask = { text, limit: 100 };
          const whole = await bare.pressmark.search(ask, call);
          expect(await real.pressmark.search(ask, call)).toEqual(whole);
          for (const { resource } of whole.hits)
            expect((await real.pressmark.read(resource.uri, call)).contents).toHaveLength(1);
          for (const limit of [1, 2, 3]) {
            const some = await real.pressmark.search({ text, limit }, call);
            const uris = whole.hits.map(({ resource }) => resource.uri);
            expect(some.hits.map(({ resource }) => resource.uri)).toEqual(uris.slice(0, limit));
          }
        }
        for (const at of new Set(["", "a", "tea", "nowhere", ...Object.keys(files)])) {
          const within = `m://${encode(at)}`;
          const [ours, theirs] = [real, bare].map(({ pressmark }) =>
            outcome(pressmark.search({ text: "tea", limit: 100, within }, call)),
          );
          expect(await ours).toEqual(await theirs);
        }
        for (const value of ["te", "a/", "茶"]) {
          const ask = { template: "m://{+path}", variable: "path", value, given: {} };
          const [ours, theirs] = [await real.pressmark.complete(ask, call), await bare.pressmark.complete(ask, call)];
          expect(ours.values.toSorted()).toEqual(theirs.values.toSorted());
        }
        stores[0].removeBelow(real.own, "");
        stores[1].removeBelow(bare.own, "");
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});
