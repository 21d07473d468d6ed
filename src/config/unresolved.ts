/** What becomes of a config while some of its references may not be resolved. */
import { partOf } from "./asking.ts";
import { type KeyPath, type Problem, spellPath } from "./problem.ts";
import { isPlainObject, type Resolved } from "./references.ts";

/** Whether a problem is only the other side of a text that has no value, or of a reference that leads nowhere. */
export function createIsConsequence({ problems, unresolved }: Resolved): (problem: Problem) => boolean {
  const empty = emptied(unresolved);
  const keys = new Set([...problems.map(({ path }) => path), ...empty].map(spellPath));
  const parts = new Set(empty.map(partOf));
  return ({ path, atKey = false, isOfSeveral = false }) =>
    !atKey && (keys.has(spellPath(path)) || (isOfSeveral && parts.has(partOf(path))));
}

/** Without the settings that hold a reference which may not be resolved. What was to be masked, perhaps, is masked. */
export function withoutUnresolved({ value, unresolved }: Resolved): unknown {
  if (!isPlainObject(value)) return value;
  const gone = new Set(emptied(unresolved).map((path) => spellPath(path.slice(0, 2))));
  return Object.fromEntries(
    Object.entries(value).map(([section, settings]) => {
      if (section === "redact" && gone.has(section)) return [section, true];
      if (section === "mounts" || !isPlainObject(settings)) return [section, settings];
      const kept = Object.entries(settings).filter(([setting]) => !gone.has(spellPath([section, setting])));
      return [section, Object.fromEntries(kept)];
    }),
  );
}

/** What never acts is left as it is written. */
function emptied(unresolved: readonly KeyPath[]): readonly KeyPath[] {
  return unresolved.filter((path) => partOf(path) !== undefined);
}
