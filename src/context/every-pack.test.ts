/** Properties of every pack, whatever the resources and the request. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../access/policy.ts";
import type { Call, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { clean } from "./clean.ts";
import { type CountTokens, estimate } from "./count-tokens.ts";
import { gather, type GatherRequest } from "./gather.ts";
import type { PackItem, PackFormat } from "./pack.ts";

const call: Call = { caller: { id: "reader" }, signal: new AbortController().signal };
const base = "memory://notes/";

type Files = Readonly<Record<string, string>>;

function resourcesOf(some: Files, policy: Policy = openPolicy): Resources {
  const mount = { name: "notes", base, source: createMemory(some).source };
  return createResources({ mounts: [mount], policy, runtime: createClock().runtime, cursorKey: new Uint8Array(32) });
}

/** Reads again what the receipt lists. */
async function readAgain(
  pressmark: Resources,
  { uri, lines: [first, last], columns }: Omit<PackItem, "text" | "name">,
) {
  const { contents } = await pressmark.read(uri, call);
  const { body } = contents[0]!;
  const rows = clean("text" in body ? body.text : "").text.split("\n");
  if (columns) return rows[first - 1]!.slice(...columns);
  return rows
    .slice(first - 1, last)
    .join("\n")
    .replace(/\r$/, "");
}

/** The paths of the frame, as a reader of the text finds them. */
function shownPaths(text: string, shown: PackFormat): readonly string[] {
  if (text === "") return [];
  if (shown === "json")
    return (JSON.parse(text) as { resources: { path: string }[] }).resources.map((resource) => resource.path);
  if (shown === "xml")
    return Array.from(text.matchAll(/^<resource path="([^"]*)">$/gm), (match) => match[1]!.replaceAll("&amp;", "&"));
  const paths: string[] = [];
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    const ticks = /^`{3,}/.exec(line)?.[0];
    if (fence === undefined && line.startsWith("## ")) paths.push(line.slice(3));
    if (fence === undefined) fence = ticks;
    else if (line === fence) fence = undefined;
  }
  return paths;
}

const words = [
  "kettle",
  "tea",
  "cup",
  "steam",
  "お茶",
  "やかん",
  "boil",
  "retry_count",
  "the",
  "`````",
  "</passage>",
  "🍵",
];
const row = fc.array(fc.constantFrom(...words), { maxLength: 14 }).map((some) => some.join(" "));
const content = fc
  .tuple(fc.array(row, { maxLength: 70 }), fc.constantFrom("\n", "\r\n"), fc.boolean())
  .map(([rows, end, isLong]) => rows.join(isLong ? " " : end).repeat(isLong ? 12 : 1));
const path = fc
  .tuple(
    fc.constantFrom("src", "docs", "tests", "日本", "a\n## b", "git:/x"),
    fc.constantFrom("kettle", "tea", "cup", "`````</passage>", "t\u200bea\u202e", "100%  #?"),
    fc.constantFrom(".ts", ".md", ".test.ts", ".ja.md"),
  )
  .map(([folder, name, end]) => `${folder}/${name}${end}`);
const files = fc.dictionary(path, content, { maxKeys: 8, noNullPrototype: true });
const task = fc
  .array(fc.constantFrom(...words, "tea.ts", "memory://notes/src/cup.ts"), { minLength: 1, maxLength: 6 })
  .map((some) => some.join(" "));
const format = fc.constantFrom<PackFormat>("markdown", "xml", "json");
const counter = fc.constantFrom<CountTokens>(
  estimate,
  { name: "characters", count: (text) => text.length },
  { name: "bytes", count: (text) => Buffer.byteLength(text) },
  { name: "none", count: () => 0 },
  { name: "more together", count: (text) => text.length + (text.length > 500 ? 400 : 0) },
  { name: "less together", count: (text) => Math.ceil(Math.sqrt(text.length)) },
  { name: "lines", count: (text) => (text === "" ? 0 : text.split("\n").length * 3) },
);
const budget = fc.integer({ min: 1, max: 4000 });
const asked = fc.record({ task: fc.option(task, { nil: undefined, freq: 4 }), budget, format, counter });
type Asked = typeof asked extends fc.Arbitrary<infer Given> ? Given : never;
const tries = { numRuns: 60 };

const uriOf = (at: string) => base + at.split("/").map(encodeURIComponent).join("/");

/** Sometimes there is no task, and everything is included. */
function askOf({ task: said, ...rest }: Asked, some: Files): GatherRequest {
  return said === undefined
    ? { ...rest, include: [base, ...Object.keys(some).sort().map(uriOf)] }
    : { ...rest, task: said };
}

describe("every pack", () => {
  it("is within its budget, with every counter", async () => {
    await fc.assert(
      fc.asyncProperty(files, asked, async (some, given) => {
        const { text, tokens } = await gather(resourcesOf(some), askOf(given, some), call);
        expect(tokens).toBeLessThanOrEqual(given.budget);
        expect(text === "" ? 0 : given.counter.count(text)).toBe(tokens);
      }),
      tries,
    );
  });

  it("holds what reading the URIs of its receipt gives", async () => {
    await fc.assert(
      fc.asyncProperty(files, asked, async (some, given) => {
        const pressmark = resourcesOf(some);
        const { items, receipt } = await gather(pressmark, askOf(given, some), call);
        expect(receipt.included.map(({ uri, lines }) => [uri, lines])).toEqual(
          items.map(({ uri, lines }) => [uri, lines]),
        );
        for (const item of items) expect(await readAgain(pressmark, item)).toBe(item.text);
      }),
      tries,
    );
  });

  it("shows each resource once, by a path that reads it", async () => {
    await fc.assert(
      fc.asyncProperty(files, asked, async (some, given) => {
        const pressmark = resourcesOf(some);
        const { text, items, format: shown } = await gather(pressmark, { ...askOf(given, some), roots: [base] }, call);
        const paths = shownPaths(text, shown);
        const uris = [...new Set(items.map(({ uri }) => uri))];
        expect(paths).toHaveLength(uris.length);
        for (const [at, one] of paths.entries()) {
          expect(one).not.toMatch(/[\p{Cc}\p{Cf}]/u);
          const { contents } = await pressmark.read(one.startsWith(base) ? one : base + one, call);
          expect(decodeURIComponent(contents[0]!.uri)).toBe(decodeURIComponent(uris[at]!));
        }
      }),
      tries,
    );
  });

  it("is equal for equal requests", async () => {
    await fc.assert(
      fc.asyncProperty(files, asked, async (some, given) => {
        const turned = Object.fromEntries(Object.entries(some).toReversed());
        const ask = askOf(given, some);
        expect(await gather(resourcesOf(turned), ask, call)).toEqual(await gather(resourcesOf(some), ask, call));
      }),
      tries,
    );
  });

  it("reveals nothing that read refuses: it equals the pack of a server without it", async () => {
    await fc.assert(
      fc.asyncProperty(files, asked, fc.array(path, { maxLength: 4 }), async (some, given, hidden) => {
        const policy: Policy = { maySee: (_caller, _mount, at) => !hidden.includes(at.path) };
        const { include = [], ...ask } = askOf(given, some);
        const wanted = { ...ask, include: [...include, ...hidden.map(uriOf)] };
        const seen = Object.fromEntries(Object.entries(some).filter(([at]) => !hidden.includes(at)));
        const one = await gather(resourcesOf(some, policy), wanted, call);
        // Directories of hidden resources stay: only their content is gone.
        const other = await gather(resourcesOf(seen), wanted, call);
        expect(one).toEqual(other);
      }),
      tries,
    );
  });
});
