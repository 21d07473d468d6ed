/** Random servers and random hiding rules: for tests that nothing reveals what is hidden. */
import fc from "fast-check";
import { notFound, ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { directoryType } from "../resources.ts";
import type { Page } from "../resources.ts";
import type { Entry, ListRequest, Part, Source, SourceAction, SourceChange, SourceSkill } from "../source.ts";

/** A text, a directory, or a collection, whose parts have other paths. */
export type Node =
  | { kind: "text"; text: string }
  | { kind: "directory" }
  | { kind: "collection"; of: readonly string[] };

export interface MountPlan {
  readonly name: string;
  readonly nodes: Readonly<Record<string, Node>>;
  readonly sourcePage: number;
  readonly lists: boolean;
  readonly tellsReveals: boolean;
  readonly statless: boolean;
}

/** What is hidden from a caller: whole mounts, their roots alone, or paths with or without what is below. */
export interface Hidden {
  readonly mounts: readonly string[];
  readonly roots: readonly string[];
  readonly paths: readonly { readonly mount: string; readonly path: string; readonly below: boolean }[];
}

export interface Plan {
  readonly mounts: readonly MountPlan[];
  readonly hidden: readonly Hidden[];
  readonly pageSize: number;
  readonly steps: readonly Step[];
}

export type Step = { readonly mount: number; readonly act: "write" | "remove" | "lose"; readonly path: string };

const segment = fc.constantFrom("a", "b", "c d", "é", "a-b", "x%y", "q?");
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join("/"));
const words = fc.array(fc.constantFrom("tea", "cup", "milk"), { maxLength: 4 }).map((texts) => texts.join(" "));
const node: fc.Arbitrary<Node> = fc.oneof(
  { weight: 5, arbitrary: words.map((text) => ({ kind: "text" as const, text })) },
  { weight: 2, arbitrary: fc.constant({ kind: "directory" as const }) },
  { weight: 1, arbitrary: fc.array(path, { maxLength: 3 }).map((of) => ({ kind: "collection" as const, of })) },
);
const names = ["one", "two", "six"];
const mountPlan = fc.record({
  nodes: fc.dictionary(path, node, { maxKeys: 14, noNullPrototype: true }),
  sourcePage: fc.integer({ min: 1, max: 6 }),
  /** Occasionally a mount cannot be listed. */
  lists: fc.integer({ min: 0, max: 5 }).map((luck) => luck > 0),
  tellsReveals: fc.boolean(),
  statless: fc.boolean(),
});
const anyHidden: fc.Arbitrary<Hidden> = fc.record({
  mounts: fc.subarray(names, { maxLength: 1 }),
  roots: fc.subarray(names, { maxLength: 1 }),
  paths: fc.array(fc.record({ mount: fc.constantFrom(...names), path, below: fc.boolean() }), { maxLength: 12 }),
});
export const plan: fc.Arbitrary<Plan> = fc.record({
  mounts: fc
    .array(mountPlan, { minLength: 1, maxLength: 3 })
    .map((plans) => plans.map((one, at) => ({ ...one, name: names[at] as string }))),
  hidden: fc.array(anyHidden, { minLength: 2, maxLength: 2 }),
  pageSize: fc.integer({ min: 1, max: 4 }),
  steps: fc.array(
    fc.record({
      mount: fc.nat(2),
      act: fc.constantFrom("write", "write", "remove", "remove", "lose"),
      path,
    }) as fc.Arbitrary<Step>,
    { maxLength: 6 },
  ),
});

export function isHidden({ mounts, roots, paths }: Hidden, mount: string, at: string): boolean {
  if (mounts.includes(mount) || (at === "" && roots.includes(mount))) return true;
  return paths.some(
    (rule) => rule.mount === mount && (rule.path === at || (rule.below && at.startsWith(`${rule.path}/`))),
  );
}

/** Everything in a mount, hidden or not: a path with something below it is a directory. */
export type Model = Map<string, Node>;

export function createModel({ nodes }: MountPlan): Model {
  const model: Model = new Map([["", { kind: "directory" }]]);
  for (const [at, one] of Object.entries(nodes)) if (!model.has(at)) model.set(at, one);
  for (const at of Object.keys(nodes)) for (const above of ancestorsOf(at)) model.set(above, { kind: "directory" });
  return model;
}

export interface Effect {
  readonly change: SourceChange;
  readonly node?: Node;
}

/** The changes that a step makes to a mount. */
export function effectsOf(model: Model, { act, path: at }: Step): Effect[] {
  if (act === "lose") return [{ change: { kind: "lost" } }];
  const effects: Effect[] = [];
  if (act === "write") {
    const above = ancestorsOf(at);
    if (
      model.get(at)?.kind === "directory" ||
      above.some((other) => (model.get(other)?.kind ?? "directory") !== "directory")
    )
      return [];
    for (const other of above) if (!model.has(other)) put(other, { kind: "directory" });
    put(at, { kind: "text", text: "tea tea" });
  } else {
    for (const gone of [...model.keys()].sort(compareAddresses).toReversed()) {
      if (gone !== at && !gone.startsWith(`${at}/`)) continue;
      model.delete(gone);
      effects.push({ change: { kind: "gone", path: gone } });
    }
  }
  return effects;

  function put(where: string, one: Node): void {
    effects.push({ change: { kind: model.has(where) ? "changed" : "appeared", path: where }, node: one });
    model.set(where, one);
  }
}

/** From the top, without the mount itself. */
function ancestorsOf(at: string): string[] {
  const segments = at.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

/** A source of these nodes alone, which reports the changes that the test makes. */
export function createTree(mount: MountPlan, exists: (path: string) => boolean) {
  const { sourcePage, lists, tellsReveals, statless } = mount;
  const nodes: Model = new Map([...createModel(mount)].filter(([at]) => exists(at)));
  const listeners = new Set<(change: SourceChange) => void>();
  let order: readonly string[] | undefined;
  const sorted = () => (order ??= [...nodes.keys()].sort(compareAddresses));

  function toEntry(at: string): Entry {
    const found = nodes.get(at);
    if (found === undefined) throw notFound(at);
    if (found.kind === "directory") return { path: at, mimeType: directoryType };
    return found.kind === "text" ? { path: at, mimeType: "text/plain", size: found.text.length } : { path: at };
  }

  /** Pages are never larger than the source's own size. */
  function toPage(paths: readonly string[], { cursor, limit }: ListRequest): Page<Entry> {
    const rest = paths.filter((at) => cursor === undefined || compareAddresses(at, cursor) > 0);
    const given = rest.slice(0, Math.min(limit, sourcePage));
    const last = given.at(-1);
    return { items: given.map(toEntry), ...(last !== undefined && given.length < rest.length && { next: last }) };
  }

  /** Every text makes a skill of its directory, and all texts there and below belong to it. */
  const manifests = () => sorted().filter((at) => nodes.get(at)?.kind === "text");
  function toSkill(at: string): SourceSkill {
    const inside = at.slice(0, at.lastIndexOf("/") + 1);
    const files = sorted().flatMap((other) => {
      const found = nodes.get(other);
      if (found?.kind !== "text" || !other.startsWith(inside)) return [];
      return [{ path: other, digest: `sha256:${found.text}`, size: found.text.length }];
    });
    return { path: at, frontMatter: { name: at, description: at }, files };
  }

  const tell: SourceAction<{ readonly path: string }> = {
    description: "Tell what is there",
    input: (zod) => zod.object({ path: zod.string() }),
    run: async ({ path: at }) => ({ value: { at }, entries: [toEntry(at)] }),
  };

  const source: Source = {
    async list(request) {
      if (!lists) throw new ResourceError("unavailable", "away");
      const files = sorted().filter((at) => nodes.get(at)?.kind !== "directory");
      return toPage(files, request);
    },
    async read({ path: at, query }): Promise<readonly Part[]> {
      const found = query ? undefined : nodes.get(at);
      if (found === undefined) throw notFound(at);
      if (found.kind === "directory") throw new ResourceError("directory", "a directory");
      if (found.kind === "text") return [{ body: { text: found.text } }];
      return found.of.flatMap((other) => (nodes.has(other) ? [{ at: { path: other }, body: { text: other } }] : []));
    },
    ...(!statless && {
      async stat({ path: at, query }) {
        if (query) throw notFound(at);
        return toEntry(at);
      },
    }),
    async children({ path: at, query }, request) {
      if (query || nodes.get(at)?.kind !== "directory") throw notFound(at);
      return toPage(
        sorted().filter((other) => other !== "" && other.slice(0, Math.max(0, other.lastIndexOf("/"))) === at),
        request,
      );
    },
    templates: [{ template: "{+path}", name: "any" }],
    actions: { tell },
    async complete({ value }) {
      return sorted()
        .filter((at) => at !== "" && at.startsWith(value))
        .map((at) =>
          tellsReveals ? { value: at, reveals: { path: at } } : { value: at.replace(/[%?]/g, encodeURIComponent) },
        );
    },
    async search({ text, limit, within = "" }) {
      const hits = sorted().flatMap((at) => {
        const found = nodes.get(at);
        const isWithin = within === "" || at === within || at.startsWith(`${within}/`);
        const count = found?.kind === "text" && isWithin ? found.text.split(text).length - 1 : 0;
        return count > 0 ? [{ entry: toEntry(at), score: count, snippet: text }] : [];
      });
      return hits.sort((left, right) => right.score - left.score).slice(0, limit);
    },
    async skills(request) {
      const found = manifests().map(toSkill);
      const rest = found.filter(
        ({ path: at }) => request.cursor === undefined || compareAddresses(at, request.cursor) > 0,
      );
      const given = rest.slice(0, Math.min(request.limit, sourcePage));
      return { items: given, ...(given.length < rest.length && { next: given.at(-1)?.path ?? "" }) };
    },
    async skill({ path: at, query }) {
      if (query || !manifests().includes(at)) throw notFound(at);
      return toSkill(at);
    },
    async watch({ signal }) {
      const queue: SourceChange[] = [];
      let wake: (() => void) | undefined;
      const hear = (change: SourceChange) => {
        queue.push(change);
        wake?.();
      };
      listeners.add(hear);
      signal.addEventListener("abort", () => {
        listeners.delete(hear);
        wake?.();
      });
      return {
        async *[Symbol.asyncIterator]() {
          while (listeners.has(hear)) {
            const change = queue.shift();
            if (change) yield change;
            else
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
          }
        },
      };
    },
  };

  return {
    source,
    take({ change, node: one }: Effect): void {
      if (change.kind !== "lost") {
        if (!exists(change.path)) return;
        order = undefined;
        if (one) nodes.set(change.path, one);
        else nodes.delete(change.path);
      }
      for (const hear of listeners) hear(change);
    },
  };
}
