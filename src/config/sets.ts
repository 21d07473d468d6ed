/** Checks the sets of a config. */
import type { KeyPath, Problem } from "./problem.ts";
import type { SetSettings } from "./schema.ts";

export interface SetConfig extends SetSettings {
  readonly name: string;
}

const setName = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,63}$/u;
export const setNameRule =
  "a set's name must begin with a letter or digit and may contain letters, digits, dots, dashes and underscores, at most 64 characters";

/** Requires the normalised form, so that names that look the same are the same. */
export function isSetName(name: string): boolean {
  return setName.test(name) && name.normalize("NFC") === name;
}

/** Sets may not contain sets: they could be endless. */
export function isSetUri(uri: string): boolean {
  return /^set:/i.test(uri);
}

/** Returns the valid sets, and reports all problems of the others. */
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
    // Everyone who may read the set sees all of this.
    if (isReferred(path)) yield { path, message: "is shown to clients, so it must not contain a reference" };
  for (const [index, uri] of resources.entries())
    if (isSetUri(uri)) yield { path: [...at, "resources", index], message: "a set contains resources, not other sets" };
}
