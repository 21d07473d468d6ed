/** What becomes of a config while some of its references may not be resolved. */
import { partOf } from "./asking.ts";
import { type KeyPath, type Problem, spellPath } from "./problem.ts";
import { isPlainObject, type Resolved } from "./references.ts";

/** Whether a problem is only the other side of a text that has no value, or of a reference that leads nowhere. */
export function isConsequence({ path, isOfSeveral }: Problem, { problems, unresolved }: Resolved): boolean {
  const here = spellPath(path);
  if (problems.some((each) => spellPath(each.path) === here)) return true;
  return emptied(unresolved).some((each) => spellPath(each) === here || (isOfSeveral && partOf(each) === partOf(path)));
}

/** Without the settings that hold a reference which may not be resolved. What was to be masked, perhaps, is masked. */
export function withoutUnresolved({ value, unresolved }: Resolved): unknown {
  if (!isPlainObject(value)) return value;
  const isUnresolved = (...path: KeyPath) =>
    emptied(unresolved).some((each) => path.every((key, index) => each[index] === key));
  return Object.fromEntries(
    Object.entries(value).map(([section, settings]) => {
      if (section === "redact" && isUnresolved(section)) return [section, true];
      if (section === "mounts" || !isPlainObject(settings)) return [section, settings];
      return [
        section,
        Object.fromEntries(Object.entries(settings).filter(([setting]) => !isUnresolved(section, setting))),
      ];
    }),
  );
}

/** What never acts is left as it is written. */
function emptied(unresolved: readonly KeyPath[]): readonly KeyPath[] {
  return unresolved.filter((path) => partOf(path) !== undefined);
}
