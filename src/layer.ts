/** Layers: functions from source to source that add the same behaviour to every source. */
import type { Source } from "./source.ts";

/** A layer neither removes nor adds an ability. */
export type Layer = (inner: Source, mount: { readonly name: string }) => Source;

/** The methods of a source that return a promise. */
export type Operation =
  | "list"
  | "read"
  | "stat"
  | "children"
  | "complete"
  | "search"
  | "skills"
  | "skill"
  | "problems"
  | "watch"
  | "act";

export type OperationMethod = (...args: never[]) => Promise<unknown>;

/**
 * Wraps a source: for each operation that the inner source has, `around` gets its name and the bound method, and returns the
 * replacement. Other members (`order`, `cursorAfter`, `templates`, `learnTemplates`, `lists`, `follow`, `watchesPerCaller`, `timeoutMs`, `maySee`, `filesOf`, `close`)
 * pass through.
 */
export function wrapSource(
  inner: Source,
  around: <T extends OperationMethod>(operation: Operation, method: T) => T,
): Source {
  const wrapped: Source = {
    list: around("list", inner.list.bind(inner)),
    read: around("read", inner.read.bind(inner)),
    ...(inner.stat && { stat: around("stat", inner.stat.bind(inner)) }),
    ...(inner.children && { children: around("children", inner.children.bind(inner)) }),
    order: inner.order,
    ...(inner.cursorAfter && { cursorAfter: inner.cursorAfter.bind(inner) }),
    ...(inner.learnTemplates && { learnTemplates: inner.learnTemplates.bind(inner) }),
    ...(inner.complete && { complete: around("complete", inner.complete.bind(inner)) }),
    ...(inner.search && { search: around("search", inner.search.bind(inner)) }),
    ...(inner.skills && { skills: around("skills", inner.skills.bind(inner)) }),
    ...(inner.skill && { skill: around("skill", inner.skill.bind(inner)) }),
    ...(inner.problems && { problems: around("problems", inner.problems.bind(inner)) }),
    ...(inner.watch && { watch: around("watch", inner.watch.bind(inner)) }),
    ...(inner.lists && { lists: inner.lists.bind(inner) }),
    ...(inner.follow && { follow: inner.follow.bind(inner) }),
    watchesPerCaller: inner.watchesPerCaller,
    timeoutMs: inner.timeoutMs,
    ...(inner.actions && { actions: wrapActions(inner.actions, around) }),
    ...(inner.maySee && { maySee: inner.maySee.bind(inner) }),
    ...(inner.filesOf && { filesOf: inner.filesOf.bind(inner) }),
    ...(inner.close && { close: inner.close.bind(inner) }),
  };
  // A getter, because a source may learn its templates later.
  if (inner.templates)
    Object.defineProperty(wrapped, "templates", { get: () => inner.templates, enumerable: true, configurable: true });
  return wrapped;
}

function wrapActions(
  actions: NonNullable<Source["actions"]>,
  around: <T extends OperationMethod>(operation: Operation, method: T) => T,
): NonNullable<Source["actions"]> {
  return Object.fromEntries(
    Object.entries(actions).map(([name, action]) => [name, { ...action, run: around("act", action.run.bind(action)) }]),
  );
}

/** The first layer is the outermost. */
export function stack(source: Source, mount: { readonly name: string }, layers: readonly Layer[]): Source {
  return layers.reduceRight((inner, layer) => layer(inner, mount), source);
}
