/** The resources under test: every call is limited in time, and an error names the call. */
import type { Call, ListFilter, Resources, Skill, WatchFilter } from "../../resources.ts";
import { contractContent, directoriesOf } from "../contract-content.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { show } from "../expectations.ts";
import { collectChanges } from "../listen.ts";
import { collect } from "../pages.ts";
import type { ResourcesSetup } from "../resources-setup.ts";
import { within } from "../within.ts";

export type ResourcesContext = ReturnType<typeof createResourcesContext>;

export function createResourcesContext(setup: ResourcesSetup, runner: ContractRunner) {
  const { content = contractContent, inside = "", timeoutMs = 60_000, uriOf, waitMs = 20_000 } = setup;
  const known = Object.keys(content);
  const aFile = known.find((path) => !path.includes("/")) ?? known[0] ?? "";
  let resources: Resources;
  let stop: AbortController;

  const call = (): Call => ({ caller: { id: "contract" }, signal: stop.signal });
  const settled = <T>(work: T | PromiseLike<T>, name: string, ...args: readonly unknown[]): Promise<T> =>
    within(waitMs, work, `${name}(${args.map(show).join(", ")}) to return or to throw`);

  return {
    setup,
    inside,
    known,
    uriOf,
    aFile,
    texts: Object.entries(content).filter((pair): pair is [string, string] => typeof pair[1] === "string"),
    directories: directoriesOf(known),
    missing: ["no-such-thing", "no/such/thing", `${aFile}x`, `${aFile}/below`],
    /** The reason to skip a test that needs one of these; undefined if the setup has all. */
    lacks: (...names: readonly (keyof ResourcesSetup)[]): string | undefined => {
      const absent = names.filter((name) => setup[name] === undefined);
      return absent.length === 0
        ? undefined
        : `the setup has no ${absent.map((name) => `\`${name}\``).join(" and no ")}`;
    },

    resources: () => resources,
    call,
    abort: () => stop.abort(),
    settled,
    list: (filter?: ListFilter) =>
      collect((cursor) => settled(resources.list({ ...requested(cursor), ...(filter && { filter }) }, call()), "list")),
    children: (path: string) =>
      collect((cursor) => settled(resources.children(uriOf(path), requested(cursor), call()), "children", path)),
    read: (uri: string) => settled(resources.read(uri, call()), "read", uri),
    stat: (uri: string) => settled(resources.stat(uri, call()), "stat", uri),
    skills: (): Promise<Skill[]> =>
      collect(
        async (cursor) => (await settled(resources.skills?.(requested(cursor), call()), "skills")) ?? { items: [] },
      ),
    skill: (uri: string) => settled(resources.skill?.(uri, call()), "skill", uri),
    async watch(filter: WatchFilter, signal: AbortSignal = stop.signal) {
      const watch = await settled(resources.watch(filter, { ...call(), signal }), "watch", filter);
      return { uris: watch.uris, ...collectChanges(watch, waitMs) };
    },
    write: async (path: string, text: string) => settled(setup.write?.(path, text), "the setup's write", path),
    remove: async (path: string) => settled(setup.remove?.(path), "the setup's remove", path),

    /** Defines a test that runs with a server of its own. */
    test(name: string, body: () => Promise<void>, skip?: string) {
      runner.it(name, { timeoutMs, skip }, async () => {
        stop = new AbortController();
        resources = await within(timeoutMs, setup.open(content), "the setup's open(content) to return resources");
        try {
          await body();
        } finally {
          stop.abort();
          await setup.clear?.();
        }
      });
    },
  };
}

export function requested(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

/** The URI unchanged, and with its last letter percent-encoded. */
export function spellingsOf(uri: string): string[] {
  const letter = uri
    .charCodeAt(uri.length - 1)
    .toString(16)
    .toUpperCase();
  return [uri, `${uri.slice(0, -1)}%${letter}`];
}
