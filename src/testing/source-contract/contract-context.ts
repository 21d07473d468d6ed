/** The source under test: every call is limited in time, and an error names the call. */
import { compareAddresses } from "../../lib/address-order.ts";
import type { Call, Page } from "../../resources.ts";
import { toSourceHits } from "../../source.ts";
import type { Address, Entry, ListRequest, Part, Source, SourceHit } from "../../source.ts";
import { contractContent, directoriesOf, missingBeside } from "../contract-content.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { expectOrdered, expectUnique, formatAddress, show } from "../expectations.ts";
import { asking, collect } from "../pages.ts";
import type { Ability, SourceSetup } from "../source-setup.ts";
import { withCleanup } from "../with-cleanup.ts";
import { within } from "../within.ts";

export type ContractContext = ReturnType<typeof createContractContext>;

export const unknownQuery = { "no-such-query": "1" };

export function createContractContext(setup: SourceSetup, runner: ContractRunner) {
  const { content = contractContent, inside = "", timeoutMs = 60_000, waitMs = 20_000 } = setup;
  const addressOf = (written: string) => setup.pathOf?.(written) ?? written;
  const known = Object.keys(content).map(addressOf);
  const texts = Object.entries(content).flatMap(([written, text]): [string, string][] =>
    text === undefined ? [] : [[addressOf(written), text]],
  );
  /** Everything with something below it: directories, and resources that have children. */
  const parents = directoriesOf(known);
  const directories = parents.filter((path) => !known.includes(path));
  const leaves = Object.keys(content).filter((written) => !parents.includes(addressOf(written)));
  /** The first file at the top, as written and as an address. */
  const aWritten = leaves.find((written) => !written.includes("/")) ?? leaves[0] ?? "";
  const aFile = addressOf(aWritten);
  const missing = missingBeside([...known, ...parents], parents, aFile);

  let source: Source;
  let shared: Source | undefined;
  let stop: AbortController;

  const call = (): Call => ({ caller: { id: "contract" }, signal: stop.signal });
  /** Waits for a call, at most for the time that the setup allows. */
  const settled = <T>(work: T | PromiseLike<T>, name: string, ...args: readonly unknown[]): Promise<T> =>
    within(waitMs, work, `${name}(${args.map(show).join(", ")}) to return or to throw`);
  /** A method of the source, still bound to it. */
  function method<K extends keyof Source>(name: K): NonNullable<Source[K]> {
    const found = source[name];
    if (found === undefined) throw new Error(`the setup claims what the source lacks: it has no \`${name}\``);
    return (typeof found === "function" ? found.bind(source) : found) as NonNullable<Source[K]>;
  }
  const hook = async (name: "write" | "remove" | "rename", ...args: string[]): Promise<string> => {
    const change = setup[name] as ((...given: string[]) => void | Promise<void>) | undefined;
    if (change === undefined) throw new Error(`the setup must provide \`${name}\` for this test`);
    await settled(change(...args), `the setup's ${name}`, ...args);
    return addressOf(args.at(-1) ?? "");
  };
  const list = (request: ListRequest) => settled(source.list(request, call()), "list", request);
  const children = (at: Address, request: ListRequest) =>
    settled(method("children")(at, request, call()), "children", at, request);
  const search = async (request: Parameters<NonNullable<Source["search"]>>[0]) =>
    toSourceHits(await settled(method("search")(request, call()), "search", request));
  const close = async () => {
    shared = undefined;
    if (source.close) await settled(source.close(), "close");
  };

  return {
    setup,
    content,
    inside,
    waitMs,
    known,
    texts,
    parents,
    directories,
    aFile,
    aWritten,
    missing,
    addressOf,
    can: (ability: Ability) => setup.abilities.includes(ability),
    /** The reason to skip a test that needs one of these hooks; undefined if the setup has all. */
    lacks: (...hooks: readonly (keyof SourceSetup)[]): string | undefined => {
      const absent = hooks.filter((name) => setup[name] === undefined);
      return absent.length === 0
        ? undefined
        : `the setup has no ${absent.map((name) => `\`${name}\``).join(" and no ")}`;
    },

    source: () => source,
    call,
    signal: (): AbortSignal => stop.signal,
    abort: () => stop.abort(),
    method,
    settled,
    list,
    children,
    close,
    read: (at: Address): Promise<readonly Part[]> => settled(source.read(at, call()), "read", at),
    stat: (at: Address): Promise<Entry> => settled(method("stat")(at, call()), "stat", at),
    follow: async (path: string) => {
      if (source.follow) await settled(source.follow({ path }, call()), "follow", path);
    },
    search: async (text: string, limit: number, scope?: string): Promise<readonly SourceHit[]> =>
      (await search(scope === undefined ? { text, limit } : { text, limit, within: scope })).hits,
    /** Paths of the hits; undefined if less than all of the mount was searched. */
    async pathsOfHits(text: string): Promise<string[] | undefined> {
      const { hits, ready } = await search({ text, limit: 100 });
      return ready === 1 ? hits.map(({ entry }) => entry.path) : undefined;
    },
    /** Each changes the backend and returns the address. */
    write: (path: string, text: string) => hook("write", path, text).then(() => addressOf(path)),
    remove: (path: string) => hook("remove", path),
    rename: (from: string, to: string) => hook("rename", from, to),

    /** All entries of the list; each once if the source is unordered. */
    listAll: (limit = 1000, from?: string): Promise<Entry[]> =>
      everything((cursor) => list(asking(limit, cursor)), `the list (limit ${limit})`, from),
    /** All children of a directory; each once if the source is unordered. */
    childrenOf: (path: string, limit = 1000): Promise<Entry[]> =>
      everything((cursor) => children({ path }, asking(limit, cursor)), `children of ${show(path)} (limit ${limit})`),
    /** All items of another list that has pages as `list` has. */
    everything,
    /** Expects each address once and in the order of the source; in any order, if it has none. */
    inOrder(entries: readonly Address[], about: string, order = source.order) {
      if (!source.isUnordered) expectOrdered(entries, order ?? compareAddresses, about);
    },

    /** Defines a test that runs with a source of its own. */
    test(name: string, body: () => Promise<void>, skip?: string) {
      let isOpen = false;
      const run = async () => {
        stop = new AbortController();
        source = shared ?? (await within(timeoutMs / 2, setup.open(content), "the setup's open(content) to return"));
        isOpen = true;
        if (setup.isShared) shared = source;
        if (source.learnTemplates) await settled(source.learnTemplates(call()), "learnTemplates");
        await body();
      };
      const leave = async () => {
        stop.abort();
        if (isOpen && !shared) await close();
      };
      runner.it(name, { timeoutMs, skip }, () => withCleanup(run, leave, () => setup.clear?.()));
    },
    /** Closes the source that the tests share. */
    end: async () => shared?.close?.(),
  };

  async function everything<T extends Address>(
    page: (cursor?: string) => Promise<Page<T>>,
    about: string,
    from?: string,
  ): Promise<T[]> {
    const { isUnordered } = source;
    const uniquePage = async (cursor?: string) => {
      const found = await page(cursor);
      expectUnique(found.items.map(formatAddress), `a page of ${about}`);
      return found;
    };
    const entries = await collect(uniquePage, from, about);
    return isUnordered ? [...new Map(entries.map((entry) => [formatAddress(entry), entry])).values()] : entries;
  }
}

export function addressesOf(entries: readonly Address[]): string[] {
  return entries.map(({ path }) => path);
}

/** The address alone, without the other properties of an entry. */
export function toAddress({ path, query }: Address): Address {
  return query ? { path, query } : { path };
}

export function textOf(parts: readonly Part[]): string {
  return parts
    .map(({ body }) =>
      "text" in body ? body.text : new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body.bytes),
    )
    .join("");
}
