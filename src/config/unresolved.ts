/** Handles a config while some of its references may not be resolved. */
import { partOf } from "./asking.ts";
import { type KeyPath, type Problem, formatPath } from "./problem.ts";
import { isPlainObject, type ResolvedReferences } from "./references.ts";

/** Whether a problem only follows from an unresolved reference. */
export function createIsConsequence({ problems, unresolved }: ResolvedReferences): (problem: Problem) => boolean {
  const empty = emptied(unresolved);
  const keys = new Set([...problems.map(({ path }) => path), ...empty].map(formatPath));
  const parts = new Set(empty.map(partOf));
  return ({ path, atKey = false, isOfSeveral = false }) =>
    !atKey && (keys.has(formatPath(path)) || (isOfSeveral && parts.has(partOf(path))));
}

/** Removes settings with unresolved references. `redact` becomes true, to be safe. */
export function withoutUnresolved({ value, unresolved }: ResolvedReferences): unknown {
  if (!isPlainObject(value)) return value;
  const gone = new Set(emptied(unresolved).map((path) => formatPath(path.slice(0, 2))));
  return Object.fromEntries(
    Object.entries(value).map(([section, settings]) => {
      if (section === "redact" && gone.has(section)) return [section, true];
      if (section === "mounts" || !isPlainObject(settings)) return [section, settings];
      const resolved = Object.entries(settings).filter(([setting]) => !gone.has(formatPath([section, setting])));
      return [section, Object.fromEntries(resolved)];
    }),
  );
}

/** Keys without effect stay as written. */
function emptied(unresolved: readonly KeyPath[]): readonly KeyPath[] {
  return unresolved.filter((path) => partOf(path) !== undefined);
}
