/** Layers: functions from source to source that add the same behaviour to every source. */
import type { Source, SourceRelayed } from "./source.ts";

/** A layer neither removes nor adds an ability. */
export type Layer = (inner: Source, mount: { readonly name: string }) => Source;

const operations = [
  "list",
  "listIndexed",
  "indexedSince",
  "read",
  "stat",
  "children",
  "complete",
  "search",
  "skills",
  "skill",
  "problems",
  "watch",
] as const;
/** Members that pass through. */
const others = [
  "cursorAfter",
  "learnTemplates",
  "lists",
  "indexes",
  "follow",
  "noteChanges",
  "maySee",
  "filesOf",
  "overviewOf",
  "filterFiles",
  "learnFiles",
  "close",
] as const;

/** The methods of a source that return a promise. */
export type Operation =
  | (typeof operations)[number]
  | "act"
  /** Lists and completes tools and prompts of another server. */
  | "offer"
  /** Calls a tool or gets a prompt of another server. It may ask the caller, so the source itself limits its time. */
  | "relay";

const relayedOperations = {
  tools: "offer",
  prompts: "offer",
  completePrompt: "offer",
  watch: "watch",
  callTool: "relay",
  getPrompt: "relay",
} as const satisfies Record<keyof SourceRelayed, Operation>;

export type OperationMethod = (...args: never[]) => Promise<unknown>;

/**
 * Wraps a source: for each operation that the inner source has, `around` gets its name and the bound method, and returns the
 * replacement. Other members pass through.
 */
export function wrapSource(
  inner: Source,
  around: (operation: Operation, method: OperationMethod) => OperationMethod,
): Source {
  const wrapped: Record<string, unknown> = {
    order: inner.order,
    isUnordered: inner.isUnordered,
    isRanked: inner.isRanked,
    timeoutMs: inner.timeoutMs,
    watchesPerCaller: inner.watchesPerCaller,
    impliesDirectories: inner.impliesDirectories,
  };
  for (const name of operations) {
    const method: OperationMethod | undefined = inner[name]?.bind(inner);
    if (method) wrapped[name] = around(name, method);
  }
  for (const name of others) if (inner[name]) wrapped[name] = inner[name].bind(inner);
  if (inner.actions)
    wrapped["actions"] = Object.fromEntries(
      Object.entries(inner.actions).map(([name, action]) => [
        name,
        { ...action, run: around("act", action.run.bind(action)) },
      ]),
    );
  const { relayed } = inner;
  if (relayed)
    wrapped["relayed"] = Object.fromEntries(
      Object.entries(relayedOperations).map(([name, operation]) => [
        name,
        around(operation, relayed[name as keyof SourceRelayed].bind(relayed)),
      ]),
    );
  // A getter, because a source may learn its templates later.
  if (inner.templates)
    Object.defineProperty(wrapped, "templates", { get: () => inner.templates, enumerable: true, configurable: true });
  return wrapped as unknown as Source;
}

/** The first layer is the outermost. */
export function stack(source: Source, mount: { readonly name: string }, layers: readonly Layer[]): Source {
  return layers.reduceRight((inner, layer) => layer(inner, mount), source);
}
