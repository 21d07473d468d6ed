/** Completion of file paths. */
import { directoryType } from "../../resources.ts";
import type { Suggestion } from "../../source.ts";
import type { Confine } from "./confine.ts";
import type { Names } from "./names.ts";
import type { Steps } from "./steps.ts";
import type { FileWalk } from "./walk.ts";

const maxSuggestions = 100;

/** Names in the folder typed so far: prefix matches, then prefix matches that ignore case, then substring matches. */
export function* completePath(
  typed: string,
  { confine, names, walk }: { readonly confine: Confine; readonly names: Names; readonly walk: FileWalk },
): Steps<Suggestion[]> {
  const slash = typed.lastIndexOf("/");
  const folder = typed.slice(0, Math.max(0, slash));
  if (slash === 0) return [];
  const all = yield* confine.visit(folder, function* (location) {
    return location.kind === "folder" ? (yield* names.of(location)).names : [];
  });
  const suggestions: Suggestion[] = [];
  for (const name of best(all ?? [], typed.slice(slash + 1))) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const entry = yield* walk.find(path);
    if (!entry) continue;
    const { mimeType, reveals: real } = entry;
    const reveals = real ? { path, reveals: real } : { path };
    suggestions.push({ value: mimeType === directoryType ? `${path}/` : path, reveals });
    if (suggestions.length === maxSuggestions) break;
  }
  return suggestions;
}

function* best(names: readonly string[], typed: string): Generator<string> {
  const folded = typed.toLowerCase();
  const alike: string[] = [];
  const holding: string[] = [];
  for (const name of names) {
    if (name.startsWith(typed)) {
      yield name;
      continue;
    }
    const at = name.toLowerCase().indexOf(folded);
    // More than enough to choose from, even if some turn out not to exist.
    if (at === 0 && alike.length < 2 * maxSuggestions) alike.push(name);
    else if (at > 0 && holding.length < 2 * maxSuggestions) holding.push(name);
  }
  yield* alike;
  yield* holding;
}
