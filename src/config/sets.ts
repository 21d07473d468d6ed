/** Named choices of resources, as a config says them. */
import type { KeyPath, Problem } from "./problem.ts";
import type { SetSettings } from "./schema.ts";

export interface SetConfig extends SetSettings {
  readonly name: string;
}

const setName = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,63}$/u;
export const setNameRule =
  "a set's name is a letter or digit, then letters, digits, dots, dashes and underscores, 64 at most";

/** One spelling for one name: what looks the same is the same. */
export function isSetName(name: string): boolean {
  return setName.test(name) && name.normalize("NFC") === name;
}

/** Sets of sets would have no end. */
export function isSetUri(uri: string): boolean {
  return /^set:/i.test(uri);
}

/** Those without a problem; the problems of the others are all said. */
export function checkSets(
  given: Readonly<Record<string, SetSettings>>,
  { isReferred, refuse }: { isReferred(path: KeyPath): boolean; refuse(problem: Problem): void },
): readonly SetConfig[] {
  return Object.entries(given).flatMap(([name, settings]) => {
    const problems = [...problemsOf(name, settings, isReferred)];
    for (const problem of problems) refuse(problem);
    return problems.length === 0 ? [{ name, ...settings }] : [];
  });
}

function* problemsOf(
  name: string,
  { resources }: SetSettings,
  isReferred: (path: KeyPath) => boolean,
): Generator<Problem> {
  const at = ["sets", name];
  if (!isSetName(name)) yield { path: at, atKey: true, message: setNameRule };
  for (const path of [
    [...at, "title"],
    [...at, "description"],
    ...resources.map((_, index) => [...at, "resources", index]),
  ])
    // Whoever may read the set is told all of this.
    if (isReferred(path)) yield { path, message: "is shown to clients, so it must be written out here" };
  for (const [index, uri] of resources.entries())
    if (isSetUri(uri)) yield { path: [...at, "resources", index], message: "a set holds resources, not other sets" };
}
