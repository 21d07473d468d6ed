/** Every promise of the Resources interface as a test: for the router, and for the remote client. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { directoryType } from "../resources.ts";
import type { Call, Change, ListFilter, Resource, Resources, WatchFilter } from "../resources.ts";
import { pathOf, segmentsOf } from "../source.ts";
import { contractContent, directoriesOf } from "./contract-content.ts";
import type { KnownContent } from "./contract-content.ts";
import { collectChanges } from "./listen.ts";
import { collect } from "./pages.ts";
import { refusal } from "./refusal.ts";

export interface ResourcesSetup {
  /** Content that `open` must serve. Default: `contractContent`. An undefined value is not compared. */
  readonly content?: KnownContent;
  /** A new server that serves at least this content, in one mount. */
  open(content: KnownContent): Promise<Resources>;
  /** The URI of a path, as the server lists it. */
  uriOf(path: string): string;
  /** Creates or replaces a file of the server opened last. */
  write?(path: string, text: string): void | Promise<void>;
  remove?(path: string): void | Promise<void>;
  /** Called after each test. */
  clear?(): void | Promise<void>;
  /** Whether directories are served. Default: true. */
  readonly directories?: boolean;
  /** A text that the search must find, and its path; absent if the server has no search. */
  readonly findable?: { readonly text: string; readonly path: string };
  /** The path of a SKILL.md that must be among the skills; absent if the server has none. */
  readonly skill?: string;
  /** Where the contract writes its own files, ending in "/". Default: the mount itself. */
  readonly inside?: string;
  /** A template as listed, the typed value, and a value that must be suggested. */
  readonly completion?: {
    readonly template: string;
    readonly variable: string;
    readonly value: string;
    readonly expected: string;
  };
  readonly timeoutMs?: number;
}

export function resourcesContract(name: string, setup: ResourcesSetup): void {
  const { content = contractContent, uriOf, write, remove, findable, completion, timeoutMs = 20_000 } = setup;
  const { inside = "" } = setup;
  const known = Object.keys(content);
  const texts = Object.entries(content).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  const directories = directoriesOf(known);
  const aFile = known.find((path) => !path.includes("/")) ?? known[0] ?? "";
  const missing = ["no-such-thing", "no/such/thing", `${aFile}x`, `${aFile}/below`];

  describe(`${name} keeps the promises of resources`, { timeout: timeoutMs }, () => {
    let resources: Resources;
    let stop: AbortController;
    const call = (): Call => ({ caller: { id: "contract" }, signal: stop.signal });
    const list = (filter?: ListFilter) =>
      collect((cursor) => resources.list({ ...requested(cursor), ...(filter && { filter }) }, call()));
    const children = (path: string) => collect((cursor) => resources.children(uriOf(path), requested(cursor), call()));
    const skills = () =>
      collect(async (cursor) => (await resources.skills?.(requested(cursor), call())) ?? { items: [] });
    const watch = (filter: WatchFilter, signal = stop.signal) => resources.watch(filter, { ...call(), signal });

    beforeEach(async () => {
      stop = new AbortController();
      resources = await setup.open(content);
    });
    afterEach(async () => {
      stop.abort();
      await setup.clear?.();
    });

    describe("list", () => {
      it("pages are disjoint and together complete", async () => {
        const uris = (await list()).map(({ uri }) => uri);
        expect(new Set(uris).size, "a URI was listed twice").toBe(uris.length);
        expect(uris).toEqual(expect.arrayContaining(known.map(uriOf)));
      });

      it("names everything, and lists no directory", async () => {
        for (const { name: called, uri, mimeType } of await list()) {
          expect(called, uri).not.toBe("");
          expect(mimeType, uri).not.toBe(directoryType);
        }
      });

      it("every listed URI reads back", async () => {
        for (const { uri } of await list())
          expect((await resources.read(uri, call())).contents, uri).not.toHaveLength(0);
      });

      it("with a filter, pages hold what matches and nothing else", async () => {
        const all = await list();
        for (const { name: called, uri } of all.slice(0, 2)) {
          const [nameStart, uriStart] = [[...called][0] ?? "", uri.slice(0, 8)];
          const found = await list({ namePatterns: [`${nameStart}*`], uriPatterns: [`${uriStart}*`] });
          const expected = all.filter((each) => each.name.startsWith(nameStart) && each.uri.startsWith(uriStart));
          expect(found.map((each) => each.uri)).toEqual(expected.map((each) => each.uri));
        }
        expect(await list({ uriPatterns: ["none"] })).toEqual([]);
      });

      it("a cursor that was never returned is invalid", async () => {
        for (const cursor of ["", "never given", "e30", "💥"])
          await refusal(resources.list({ cursor }, call()), ["invalid"], cursor);
      });
    });

    if (setup.directories ?? true)
      describe("children", () => {
        it("are the direct children of one directory", async () => {
          for (const path of directories) {
            const direct = [...known, ...directories].filter((other) => parentOf(other) === path);
            const found = await children(path);
            expect(found.map(({ uri }) => uri).sort(), path).toEqual(expect.arrayContaining(direct.map(uriOf).sort()));
            for (const { uri, mimeType } of found)
              if (directories.map(uriOf).includes(uri)) expect(mimeType, uri).toBe(directoryType);
          }
        });

        it('a missing address, or one that is no directory, throws "not-found"', async () => {
          for (const path of [...missing, aFile])
            await refusal(resources.children(uriOf(path), {}, call()), ["not-found"], path);
        });
      });

    describe("read", () => {
      it("returns the content, whatever its name", async () => {
        for (const [path, text] of texts) {
          const { contents } = await resources.read(uriOf(path), call());
          const [{ body } = { body: { text: undefined } }] = contents;
          expect("bytes" in body ? new TextDecoder().decode(body.bytes) : body.text, path).toBe(text);
        }
      });

      it("contents carry the URI as the caller wrote it", async () => {
        for (const form of spellingsOf(uriOf(aFile))) {
          const { contents } = await resources.read(form, call());
          expect(contents.map(({ uri }) => uri)).toEqual([form]);
        }
      });

      it("returns the lines that a query names, of every text", async () => {
        for (const [path, text] of texts) {
          const uri = `${uriOf(path)}?lines=2-3`;
          const lines = text.split(/(?<=\n)/).slice(1, 3);
          if (lines.length === 0) await refusal(resources.read(uri, call()), ["invalid"], path);
          else {
            const { contents } = await resources.read(uri, call());
            expect(contents, path).toMatchObject([{ uri, body: { text: lines.join("") } }]);
            expect(await resources.stat(uri, call()), path).toMatchObject({ uri });
          }
        }
      });

      it('a missing resource throws "not-found"; it never returns an empty array', async () => {
        for (const path of missing) await refusal(resources.read(uriOf(path), call()), ["not-found"], path);
        for (const uri of ["no-such-scheme://x/y", "relative", `${uriOf(aFile)}?no-such-query=1`])
          await refusal(resources.read(uri, call()), ["not-found", "invalid"], uri);
      });

      it("states how long the content stays fresh, and for whom", async () => {
        const { ttlMs, scope } = await resources.read(uriOf(aFile), call());
        expect(ttlMs).toBeGreaterThanOrEqual(0);
        expect(["public", "private"]).toContain(scope);
        expect(resources.listFreshness.ttlMs).toBeGreaterThanOrEqual(0);
        expect(["public", "private"]).toContain(resources.listFreshness.scope);
      });

      it("a call whose signal is already aborted returns or fails, and never hangs", async () => {
        stop.abort();
        await Promise.allSettled([resources.read(uriOf(aFile), call()), resources.list({}, call())]);
      });
    });

    describe("stat", () => {
      it("agrees with the list", async () => {
        for (const resource of await list())
          expect(withoutMeta(await resources.stat(resource.uri, call()))).toEqual(withoutMeta(resource));
      });

      it('a missing resource throws "not-found"', async () => {
        for (const path of missing) await refusal(resources.stat(uriOf(path), call()), ["not-found"], path);
      });
    });

    describe("templates", () => {
      it("come in pages that end, each template once", async () => {
        const templates = await collect((cursor) => resources.templates(requested(cursor), call()));
        const written = templates.map(({ uriTemplate }) => uriTemplate);
        expect(new Set(written).size).toBe(written.length);
      });
    });

    describe("complete", () => {
      it('an unknown template throws "invalid"', async () => {
        const request = { template: "no-such-scheme://{variable}", variable: "variable", value: "", given: {} };
        await refusal(resources.complete(request, call()), ["invalid"], request.template);
      });

      it.runIf(completion)(
        "suggests existing values, at most a hundred, and none for an unknown variable",
        async () => {
          const { template = "", variable = "", value = "", expected = "" } = completion ?? {};
          const { values } = await resources.complete({ template, variable, value, given: {} }, call());
          expect(values).toContain(expected);
          expect(values.length).toBeLessThanOrEqual(100);
          const unknown = { template, variable: "no-such-variable", value: "", given: {} };
          expect((await resources.complete(unknown, call())).values).toEqual([]);
        },
      );
    });

    if (findable)
      describe("search", () => {
        const { text = "", path = "" } = findable ?? {};

        it("finds what exists, and states how much was searched", async () => {
          const { hits, ready } = await resources.search({ text, limit: 10 }, call());
          expect(hits.map(({ resource }) => resource.uri)).toContain(uriOf(path));
          expect(hits.length).toBeLessThanOrEqual(10);
          expect(ready).toBeGreaterThanOrEqual(0);
          expect(ready).toBeLessThanOrEqual(1);
        });

        it("stays below the given URI", async () => {
          const within = uriOf(parentOf(path) ?? "");
          const { hits } = await resources.search({ text, limit: 10, within }, call());
          expect(hits.map(({ resource }) => resource.uri)).toContain(uriOf(path));
          const elsewhere = known.find((other) => other.includes("/") && !other.startsWith(`${parentOf(path)}/`));
          if (elsewhere === undefined) return;
          const beside = await resources.search({ text, limit: 10, within: uriOf(elsewhere) }, call());
          expect(beside.hits.map(({ resource }) => resource.uri)).not.toContain(uriOf(path));
        });
      });

    if (setup.skill !== undefined)
      describe("skills", () => {
        const manifest = uriOf(setup.skill ?? "");

        it("are in pages that are disjoint and together complete", async () => {
          const uris = (await skills()).map(({ uri }) => uri);
          expect(new Set(uris).size, "a skill was listed twice").toBe(uris.length);
          expect(uris).toContain(manifest);
        });

        it("name all their files, each readable in the stated size", async () => {
          for (const { uri, files } of await skills()) {
            if (files === "dynamic") continue;
            expect(files.map((file) => file.uri)).toContain(uri);
            for (const file of files) {
              const [{ body } = { body: { text: "" } }] = (await resources.read(file.uri, call())).contents;
              const size = "text" in body ? new TextEncoder().encode(body.text).length : body.bytes.length;
              expect([file.uri, size]).toEqual([file.uri, file.size]);
            }
          }
        });

        it("are each described on its SKILL.md as in the list, under the URI that the caller wrote", async () => {
          const listed = (await skills()).find(({ uri }) => uri === manifest);
          expect(await resources.skill?.(manifest, call())).toMatchObject({ skill: listed });
          const form = spellingsOf(manifest).at(-1) ?? "";
          const result = await resources.skill?.(form, call());
          expect(result?.skill.uri).toBe(form);
          expect(result?.skill.files).toContainEqual(expect.objectContaining({ uri: form }));
        });

        it('anything else throws "not-found"', async () => {
          for (const path of [...missing, aFile])
            await refusal(Promise.resolve(resources.skill?.(uriOf(path), call())), ["not-found"], path);
          await refusal(
            Promise.resolve(resources.skill?.(`${manifest}?no-such-query=1`, call())),
            ["not-found"],
            manifest,
          );
        });

        it("a cursor that was never returned is invalid", async () => {
          const { next } = await resources.list({}, call());
          for (const cursor of ["", "never given", ...(next === undefined ? [] : [next])])
            await refusal(Promise.resolve(resources.skills?.({ cursor }, call())), ["invalid"], cursor);
        });
      });

    describe("watch", () => {
      it("watches readable URIs as the caller wrote them, and leaves out the rest", async () => {
        const form = spellingsOf(uriOf(aFile)).at(-1) ?? "";
        const { uris } = await watch({ uris: [form, "no-such-scheme://x/y"] });
        expect(uris).toEqual([form]);
      });

      it.runIf(write)("resolves when the watch is active: no later change is missed", async () => {
        const uri = uriOf(aFile);
        const { until } = collectChanges(await watch({ uris: [uri] }));
        await write?.(aFile, "another text");
        await until((change) => isUpdate(change, uri), `that ${uri} was updated`);
      });

      it.runIf(write && remove)(
        "reports a list change when something appears or goes, to those who requested it",
        async () => {
          const lists = collectChanges(await watch({ list: true }));
          const things = collectChanges(await watch({ uris: [uriOf(aFile)] }));
          await write?.(`${inside}appeared.txt`, "new");
          await lists.until(({ kind }) => kind === "list-changed", "that the list changed");
          await write?.(aFile, "another text");
          await things.until((change) => isUpdate(change, uriOf(aFile)), "that the file was updated");
          expect(things.heard.map(({ kind }) => kind)).not.toContain("list-changed");
          const again = collectChanges(await watch({ list: true }));
          await remove?.(`${inside}appeared.txt`);
          await again.until(({ kind }) => kind === "list-changed", "that the list changed again");
        },
      );

      it("ends when the call's signal does", async () => {
        const ending = new AbortController();
        const { ended } = collectChanges(await watch({ uris: [uriOf(aFile)], list: true }, ending.signal));
        ending.abort();
        await ended;
      });
    });
  });
}

function requested(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

function parentOf(path: string): string {
  return pathOf(segmentsOf(path).slice(0, -1));
}

function isUpdate(change: Change, uri: string): boolean {
  return change.kind === "updated" && change.uri === uri;
}

/** Metadata added by the server may differ between responses. */
function withoutMeta({ meta: _meta, ...resource }: Resource): Omit<Resource, "meta"> {
  return resource;
}

/** The URI unchanged, and with its last letter percent-encoded. */
function spellingsOf(uri: string): string[] {
  const letter = uri
    .charCodeAt(uri.length - 1)
    .toString(16)
    .toUpperCase();
  return [uri, `${uri.slice(0, -1)}%${letter}`];
}
