/** Every promise of the Source interface as a test, selected by the abilities that a source claims. */
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ErrorKind } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { parseTemplate } from "../lib/uri-template.ts";
import { directoryType } from "../resources.ts";
import { pathOf, segmentsOf, toSourceHits } from "../source.ts";
import type { Address, ListRequest, Part, Source, SourceChange } from "../source.ts";
import { contractContent, directoriesOf, missingBeside } from "./contract-content.ts";
import type { KnownContent } from "./contract-content.ts";
import { collectChanges } from "./listen.ts";
import { asking, collect } from "./pages.ts";
import { refusal } from "./refusal.ts";

export type Ability = "stat" | "children" | "templates" | "complete" | "search" | "listIndexed" | "skills" | "watch";

export interface SourceSetup {
  /** What the source can do beyond `list` and `read`. The claim must match its methods exactly. */
  readonly abilities: readonly Ability[];
  /** Content that `open` must serve. Default: `contractContent`. An undefined value is not compared. */
  readonly content?: KnownContent;
  /** A new source that serves at least this content. */
  open(content: KnownContent): Promise<Source>;
  /** For sources that take long to open: tests that do not close the source share one. Not for sources with `write`. */
  readonly isShared?: boolean;
  /** Creates or replaces a file in the backend of the source opened last. */
  write?(path: string, text: string): void | Promise<void>;
  remove?(path: string): void | Promise<void>;
  rename?(from: string, to: string): void | Promise<void>;
  /**
   * Changes the backend of the source opened last, differently each time; returns the changes that every watch must report. Needed for a
   * source that watches and has no `write`.
   */
  change?(): ReportedChange[] | Promise<ReportedChange[]>;
  /** The path that is followed during the watch tests, for a source that reports only followed ones. Default: the first file. */
  readonly followed?: string;
  /** Where the contract writes its own files, ending in "/". Default: the mount itself. */
  readonly inside?: string;
  /** Called after each test, when the source is closed. */
  clear?(): void | Promise<void>;
  /** Addresses made from templates, and their content. */
  readonly expansions?: readonly { readonly at: Address; readonly text?: string }[];
  /** The typed value, and a value that must be suggested. */
  readonly completions?: readonly {
    readonly template: string;
    readonly variable: string;
    readonly value: string;
    readonly given?: Readonly<Record<string, string>>;
    readonly expected: string;
  }[];
  /** A text that the search must find, and its path. Default: the needle of `contractContent`. */
  readonly findable?: { readonly text: string; readonly path: string };
  /** For slow backends. */
  readonly timeoutMs?: number;
}

/** A change of one path. */
export type ReportedChange = Exclude<SourceChange, { readonly kind: "lost" }>;

const abilities: readonly Ability[] = [
  "stat",
  "children",
  "templates",
  "complete",
  "search",
  "listIndexed",
  "skills",
  "watch",
];

export function sourceContract(name: string, setup: SourceSetup): void {
  const { content = contractContent, expansions = [], completions = [], timeoutMs = 20_000 } = setup;
  const { write, remove, rename, inside: own = "" } = setup;
  const can = (ability: Ability) => setup.abilities.includes(ability);
  const known = Object.keys(content);
  const texts = Object.entries(content).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  const directories = directoriesOf(known);
  const aFile = known.find((path) => !path.includes("/")) ?? known[0] ?? "";

  const missing = missingBeside(known, directories, aFile);

  describe(`${name} keeps the promises of a source`, { timeout: timeoutMs }, () => {
    let source: Source;
    let shared: Source | undefined;
    let stop: AbortController;
    const call = () => ({ caller: { id: "contract" }, signal: stop.signal });
    const stat = (at: Address) => present(source.stat)(at, call());
    const children = (path: string, request: ListRequest) => present(source.children)({ path }, request, call());
    const list = (request: ListRequest) => source.list(request, call());
    const read = (at: Address) => source.read(at, call());
    const complete = (
      template: string,
      variable: string,
      value: string,
      given: Readonly<Record<string, string>> = {},
    ) => {
      const found = source.templates?.find((other) => other.template === template);
      if (found === undefined) throw new Error(`the source has no template ${template}`);
      return present(source.complete)({ template: found, variable, value, given }, call());
    };
    const search = async (text: string, limit: number, within?: string) => {
      const request = within === undefined ? { text, limit } : { text, limit, within };
      return toSourceHits(await present(source.search)(request, call())).hits;
    };
    const skills = (request: ListRequest) => present(source.skills)(request, call());
    const skill = (at: Address) => present(source.skill)(at, call());
    const watch = (signal = stop.signal) => present(source.watch)({ ...call(), signal });
    const begin = async (signal?: AbortSignal) => hear(await watch(signal));
    const follow = async (path: string) => await source.follow?.({ path }, call());
    /** A method of the source, still bound to it. */
    function present<T extends (...requested: never[]) => unknown>(method: T | undefined): T {
      if (method === undefined) throw new Error("the source lacks an ability that it claims");
      return method.bind(source) as T;
    }

    const close = async () => {
      shared = undefined;
      await source.close?.();
    };

    beforeEach(async () => {
      stop = new AbortController();
      source = shared ?? (await setup.open(content));
      if (setup.isShared) shared = source;
      await source.learnTemplates?.(call());
    });
    afterEach(async () => {
      stop.abort();
      if (!shared) await source.close?.();
      await setup.clear?.();
    });
    afterAll(async () => shared?.close?.());

    it("has the abilities that it claims, and claims those that it has", () => {
      expect(abilities.filter((ability) => source[ability] !== undefined).sort()).toEqual([...setup.abilities].sort());
    });

    describe("list", () => {
      it.each([1, 2, 7, 1000])(
        "pages are disjoint, ordered by address and together complete, %i at a time",
        async (limit) => {
          const entries = await collect((cursor) => list(asking(limit, cursor)));
          expectOrdered(entries, source.order);
          expect(entries.map(({ path }) => path)).toEqual(expect.arrayContaining(known));
        },
      );

      it("continues right behind an entry with the cursor of that entry, if it gives one", async () => {
        const items = await collect((later) => list(asking(1000, later)));
        for (const [index, entry] of items.entries()) {
          const cursor = source.cursorAfter?.(entry);
          if (cursor === undefined) return;
          const rest = await collect((later = cursor) => list(asking(1000, later)));
          expect(rest.map(({ path }) => path)).toEqual(items.slice(index + 1).map(({ path }) => path));
        }
      });

      it("pages of different sizes continue each other", async () => {
        const all = await collect((cursor) => list(asking(1000, cursor)));
        const first = await list(asking(2));
        if (first.next === undefined) return;
        const rest = await collect((cursor) => list(asking(1000, cursor)), first.next);
        expect([...first.items, ...rest].map(format)).toEqual(all.map(format));
      });

      it("directories are not listed", async () => {
        const entries = await collect((cursor) => list(asking(1000, cursor)));
        expect(entries.filter(({ mimeType }) => mimeType === directoryType)).toEqual([]);
        expect(entries.filter(({ path }) => directories.includes(path))).toEqual([]);
      });

      it("`lists` is true for every listed address", async () => {
        for (const { path, query } of await collect((cursor) => list(asking(1000, cursor))))
          expect(source.lists?.(query ? { path, query } : { path }) ?? true, path).toBe(true);
      });

      it.runIf(can("listIndexed"))("every indexed address reads back, in address order", async () => {
        const indexed = await collect((cursor) => present(source.listIndexed)(asking(2, cursor), call()));
        expectOrdered(indexed, source.order);
        for (const { path, query } of indexed) {
          const at = query ? { path, query } : { path };
          expect(source.indexes?.(at), path).toBe(true);
          expect(await read(at), path).not.toHaveLength(0);
        }
      });

      it("every listed address reads back", async () => {
        for (const { path, query } of await collect((cursor) => list(asking(1000, cursor))))
          expect(await read(query ? { path, query } : { path }), path).not.toHaveLength(0);
      });

      it.runIf(write && remove)(
        "an entry added or removed between two pages neither repeats nor hides another",
        async () => {
          const first = await list(asking(3));
          const last = first.items.at(-1);
          if (first.next === undefined || last === undefined) return;
          const gone = known.filter((path) => compareAddresses(path, last.path) <= 0);
          for (const path of gone) await remove?.(path);
          await write?.(`${own}!first.txt`, "before everything");
          const rest = await collect((cursor) => list(asking(3, cursor)), first.next);
          expectOrdered([...first.items, ...rest], source.order);
          const left = known.filter((path) => (source.order ?? compareAddresses)(path, last.path) > 0);
          expect(rest.map(({ path }) => path)).toEqual(expect.arrayContaining(left));
        },
      );
    });

    describe("read", () => {
      it("returns the content, whatever its name", async () => {
        for (const [path, text] of texts) expect(textOf(await read({ path })), path).toBe(text);
      });

      it('a missing address throws "not-found"; it never returns an empty array', async () => {
        for (const path of missing) await refusal(read({ path }), ["not-found"], path);
      });

      it("an address with an unknown query is missing", async () => {
        const query = { "no-such-query": "1" };
        await refusal(read({ path: aFile, query }), ["not-found"], aFile);
      });

      it('a directory throws "directory"', async () => {
        const kinds: ErrorKind[] = can("children") ? ["directory"] : ["directory", "not-found"];
        for (const path of ["", ...directories]) await refusal(read({ path }), kinds, path);
      });

      it("a call whose signal is already aborted returns or fails, and never hangs", async () => {
        stop.abort();
        await Promise.allSettled([read({ path: aFile }), list(asking(10))]);
      });
    });

    if (can("stat"))
      describe("stat", () => {
        it("agrees with the list", async () => {
          for (const entry of await collect((cursor) => list(asking(1000, cursor)))) {
            const { path, query } = entry;
            expect(await stat(query ? { path, query } : { path }), path).toEqual(entry);
          }
        });

        it("describes directories", async () => {
          for (const path of can("children") ? ["", ...directories] : [])
            expect(await stat({ path }), path).toMatchObject({ path, mimeType: directoryType });
        });

        it('a missing address throws "not-found"', async () => {
          for (const path of missing) await refusal(stat({ path }), ["not-found"], path);
          await refusal(stat({ path: aFile, query: { "no-such-query": "1" } }), ["not-found"], aFile);
        });

        it("equal versions mean equal content", async () => {
          const { version } = await stat({ path: aFile });
          expect((await stat({ path: aFile })).version).toBe(version);
          if (version === undefined || !write) return;
          const seen = new Set([version]);
          for (const text of ["one", "two", "six"]) {
            await write(aFile, text);
            const later = await stat({ path: aFile });
            expect(seen, `the version after writing ${text}`).not.toContain(later.version);
            if (later.version !== undefined) seen.add(later.version);
            expect(textOf(await read({ path: aFile }))).toBe(text);
          }
        });
      });

    if (can("children"))
      describe("children", () => {
        it.each([1, 2, 1000])(
          "are the direct children of a directory, directories included, %i at a time",
          async (limit) => {
            for (const path of ["", ...directories]) {
              const entries = await collect((cursor) => children(path, asking(limit, cursor)));
              expectOrdered(entries, source.order && (() => 0));
              const depth = segmentsOf(path).length + 1;
              for (const entry of entries) {
                expect(segmentsOf(entry.path), `a child of ${path}`).toHaveLength(depth);
                expect(entry.path.startsWith(path === "" ? "" : `${path}/`), `a child of ${path}`).toBe(true);
              }
              const direct = [...known, ...directories].filter(
                (other) => segmentsOf(other).length === depth && other.startsWith(path === "" ? "" : `${path}/`),
              );
              expect(entries.map((entry) => entry.path)).toEqual(expect.arrayContaining(direct));
              for (const entry of entries)
                if (known.includes(entry.path) || directories.includes(entry.path))
                  expect(entry.mimeType === directoryType, entry.path).toBe(directories.includes(entry.path));
            }
          },
        );

        it("lead from the mount to everything that is listed", async () => {
          const reached = new Set<string>();
          const ahead = [""];
          for (let path = ahead.pop(); path !== undefined; path = ahead.pop())
            for (const entry of await collect((cursor) => children(path as string, asking(1000, cursor))))
              if (entry.mimeType === directoryType) ahead.push(entry.path);
              else reached.add(format(entry));
          for (const entry of await collect((cursor) => list(asking(1000, cursor))))
            expect(reached).toContain(format(entry));
        });

        it('anything else throws "not-found"', async () => {
          for (const path of [...missing, aFile]) await refusal(children(path, asking(10)), ["not-found"], path);
        });
      });

    if (can("templates"))
      describe("templates", () => {
        it("are relative to the mount, well formed, named, and unique", () => {
          const templates = source.templates ?? [];
          expect(templates.length).toBeGreaterThan(0);
          for (const { template, name: called } of templates) {
            expect(() => parseTemplate(template)).not.toThrow();
            expect(template).not.toMatch(/^[a-z][a-z0-9+.-]*:\//i);
            expect(called).not.toBe("");
          }
          expect(new Set(templates.map(({ template }) => template)).size).toBe(templates.length);
        });

        it.runIf(expansions.length > 0)("expand to addresses that read", async () => {
          for (const { at, text } of expansions) {
            const parts = await read(at);
            expect(parts, JSON.stringify(at)).not.toHaveLength(0);
            if (text !== undefined) expect(textOf(parts), JSON.stringify(at)).toBe(text);
          }
        });
      });

    if (can("complete"))
      describe("complete", () => {
        it("an unknown variable has no suggestions", async () => {
          for (const { template } of source.templates ?? [])
            expect(await complete(template, "no-such-variable", "")).toEqual([]);
        });

        it.runIf(completions.length > 0)("suggests existing values", async () => {
          for (const { template, variable, value, given, expected } of completions)
            expect((await complete(template, variable, value, given)).map((each) => each.value)).toContain(expected);
        });
      });

    if (can("search"))
      describe("search", () => {
        const findable = setup.findable ?? { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" };
        it("finds existing text, with its position", async () => {
          const hits = await search(findable.text, 10);
          expect(hits.map(({ entry }) => entry.path)).toContain(findable.path);
          for (const { entry } of hits) expect(await read(entry)).not.toHaveLength(0);
        });

        it("returns the best first, and no more than requested", async () => {
          const hits = await search(findable.text, 100);
          const scores = hits.map(({ score }) => score);
          expect(scores).toEqual([...scores].sort((a, b) => b - a));
          expect((await search(findable.text, 1)).length).toBeLessThanOrEqual(1);
        });

        it("stays within the given scope", async () => {
          const parent = segmentsOf(findable.path).slice(0, -1);
          const inside = await search(findable.text, 10, pathOf(parent));
          expect(inside.map(({ entry }) => entry.path)).toContain(findable.path);
          expect(await search(findable.text, 10, "no-such-directory")).toEqual([]);
        });

        it("finds nothing that does not exist", async () => {
          expect(await search("zzqx-no-one-wrote-this-xqzz", 10)).toEqual([]);
        });
      });

    if (can("skills"))
      describe("skills", () => {
        it.each([1, 1000])(
          "pages are disjoint, ordered by address and together complete, %i at a time",
          async (limit) => {
            const found = await collect((cursor) => skills(asking(limit, cursor)));
            expectOrdered(found);
            const all = found.map(({ path }) => path);
            expect(all).toEqual(expect.arrayContaining(known.filter((path) => path.endsWith("/SKILL.md"))));
          },
        );

        it("are named like the last folder of their path, and described", async () => {
          for (const { path, frontMatter } of await collect((cursor) => skills(asking(1000, cursor)))) {
            expect(segmentsOf(path).slice(-2)).toEqual([frontMatter.name, "SKILL.md"]);
            expect(frontMatter.description).not.toBe("");
          }
        });

        it("describe their files as they read", async () => {
          const listed = (await collect((cursor) => list(asking(1000, cursor)))).map(({ path }) => path);
          for (const { path, files } of await collect((cursor) => skills(asking(1000, cursor)))) {
            if (files === "dynamic") continue;
            const folder = pathOf(segmentsOf(path).slice(0, -1));
            expect(files.map((each) => each.path)).toEqual(listed.filter((each) => each.startsWith(`${folder}/`)));
            for (const each of files) {
              const [{ body } = { body: { text: "" } }] = await read({ path: each.path });
              const bytes = "text" in body ? new TextEncoder().encode(body.text) : Uint8Array.from(body.bytes);
              const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
              const hex = Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
              expect([each.path, each.digest, each.size]).toEqual([each.path, `sha256:${hex}`, bytes.length]);
            }
          }
        });

        it("are each described on its SKILL.md as in the list", async () => {
          for (const each of await collect((cursor) => skills(asking(1000, cursor))))
            expect(await skill({ path: each.path })).toEqual(each);
        });

        it('anything else throws "not-found"', async () => {
          for (const path of ["", ...missing, ...directories, aFile])
            await refusal(skill({ path }), ["not-found"], path);
        });
      });

    if (can("watch"))
      describe("watch", () => {
        let writes = 0;
        const makeChange = async (): Promise<ReportedChange[]> => {
          if (setup.change) return setup.change();
          if (!write) throw new Error("a source that watches needs `write` or `change`");
          writes += 1;
          const fresh = `${own}watched-${writes}.txt`;
          await write(aFile, `another text, ${writes}`);
          await write(fresh, `new, ${writes}`);
          return [
            { kind: "changed", path: aFile },
            { kind: "appeared", path: fresh },
          ];
        };
        /** Checks that each watch reports a change made now. */
        async function expectTold(...watches: readonly Heard[]): Promise<void> {
          for (const each of watches) each.mark();
          const reported = await makeChange();
          await Promise.all(watches.flatMap((each) => reported.map(({ kind, path }) => each.until(kind, path))));
        }

        beforeEach(() => follow(setup.followed ?? aFile));

        it("resolves when the watch is active: no later change is missed", async () => {
          await expectTold(await begin());
        });

        it.runIf(write)("reports that something appeared, and that many things did", async () => {
          const heard = await begin();
          const paths = ["new.txt", "docs/new.txt", "names/新しい ファイル?#%.txt", "fresh/directory/new.txt"].map(
            (path) => own + path,
          );
          for (const path of paths) await write?.(path, path);
          for (const path of paths) await heard.until("appeared", path);
        });

        it.runIf(remove)("reports that something is gone", async () => {
          const heard = await begin();
          await remove?.(aFile);
          await heard.until("gone", aFile);
        });

        it.runIf(rename)("reports a rename as one path gone and another appeared", async () => {
          const heard = await begin();
          await rename?.(aFile, `${own}renamed.txt`);
          await heard.until("gone", aFile);
          await heard.until("appeared", `${own}renamed.txt`);
        });

        it("any number of concurrent watches each report every later change", async () => {
          const first = await begin();
          await expectTold(first);
          const several = await Promise.all([begin(), begin(), begin()]);
          await expectTold(first, ...several);
          await expectTold(first, ...several, await begin());
        });

        it.each(["first", "last"])("continues for the others when the %s of them ends", async (which) => {
          const leaving = new AbortController();
          const begun: Heard[] = [];
          for (const each of ["first", "middle", "last"])
            begun.push(await begin(each === which ? leaving.signal : stop.signal));
          await expectTold(...begun);
          const [ending, ...others] = which === "first" ? begun : begun.toReversed();
          leaving.abort();
          await ending?.ended;
          await expectTold(...others);
          await expectTold(...others, await begin());
        });

        it.each(["first", "last"])(
          "continues for the others when the reader of the %s of them fails",
          async (which) => {
            const other = which === "last" ? await begin() : undefined;
            const failed = failAtFirst(await watch());
            const others = [other ?? (await begin()), await begin()];
            await expectTold(...others);
            await failed;
            await expectTold(...others, await begin());
          },
        );

        it("continues for the others when one of them is cancelled while it starts", async () => {
          const before = await begin();
          const leaving = new AbortController();
          const [cancelled, beside] = [watch(leaving.signal).then(hear), begin()];
          leaving.abort();
          await cancelled.then(
            ({ ended }) => ended,
            () => undefined,
          );
          await expectTold(before, await beside, await begin());
        });

        it("does not wait for a watch that no one reads", async () => {
          await watch();
          const heard = await begin();
          await expectTold(heard);
          await expectTold(heard);
        });

        it.runIf(write && can("stat"))(
          "reports only listed paths and directories, unless `lists` says otherwise; a change says rightly that the list stays the same",
          async () => {
            const { heard, until } = collectChanges(await watch());
            const paths = ["told.txt", "told/deeper/new.txt", aFile].map((path) =>
              path === aFile ? path : own + path,
            );
            for (const path of paths) await write?.(path, "told");
            for (const path of paths)
              await until((change) => change.kind === "lost" || change.path === path, `a change of ${path}`);
            const listed = (await collect((cursor) => list(asking(1000, cursor)))).map(({ path }) => path);
            for (const change of heard) {
              if (change.kind === "lost" || change.kind === "gone") continue;
              const { path } = change;
              if ("eachBelow" in change || "isUnlisted" in change)
                expect(listed, `${path} was reported as not listed`).not.toContain(path);
              const entry = await stat({ path }).catch(() => undefined);
              if (!entry || entry.mimeType === directoryType || source.lists?.({ path }) === false) continue;
              expect(listed, `${path} was reported`).toContain(path);
            }
          },
        );

        it("ends when the call's signal does", async () => {
          const { ended } = hear(await watch());
          stop.abort();
          await ended;
        });

        it("does not start with an aborted signal", async () => {
          const begun = watch(AbortSignal.abort()).then(
            async (changes) => await hear(changes).ended,
            () => undefined,
          );
          await begun;
        });

        it("ends, or reports that it cannot continue, when the source is closed", async () => {
          if (!source.close) return;
          const { ended } = hear(await watch());
          await close();
          await ended.catch(() => undefined);
        });
      });

    describe("close", () => {
      it("may be called twice", async () => {
        await close();
        await close();
      });
    });
  });
}

function format({ path, query }: Address): string {
  return query ? JSON.stringify([path, Object.entries(query).sort()]) : path;
}

function expectOrdered(entries: readonly Address[], order: Source["order"] = compareAddresses): void {
  const written = entries.map(format);
  expect(new Set(written).size, "an address was listed twice").toBe(written.length);
  const paths = entries.map(({ path }) => path);
  expect(paths).toEqual([...paths].sort(order));
}

function textOf(parts: readonly Part[]): string {
  return parts
    .map(({ body }) =>
      "text" in body ? body.text : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body.bytes),
    )
    .join("");
}

interface Heard {
  /** Ignores everything reported before. */
  mark(): void;
  /** "lost" stands for every change. */
  until(kind: ReportedChange["kind"], path: string): Promise<void>;
  readonly ended: Promise<void>;
}

/** Collects the changes of a watch. */
function hear(changes: AsyncIterable<SourceChange>): Heard {
  const { heard, until, ended } = collectChanges(changes);
  let marked = 0;
  return {
    ended,
    mark() {
      marked = heard.length;
    },
    until: (kind, path) =>
      until(
        (change, index) =>
          index >= marked && (change.kind === "lost" || (change.kind === kind && change.path === path)),
        `that ${JSON.stringify(path)} has ${kind}`,
      ),
  };
}

/** Reads one change and fails, as a consumer may. */
async function failAtFirst(changes: AsyncIterable<SourceChange>): Promise<void> {
  const failure = new Error("the reader failed");
  try {
    for await (const _ of changes) throw failure;
  } catch (cause) {
    if (cause !== failure) throw cause;
  }
}
