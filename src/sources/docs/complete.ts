/** Completion of the language, path and heading of a document. */
import type { Call } from "../../resources.ts";
import type { SourceCompletionRequest, Suggestion } from "../../source.ts";
import type { DocumentCollection } from "./collection.ts";
import type { DocumentReader } from "./reading.ts";

const maxSuggestions = 100;
/** Suggestions may be this old. */
const maxAgeMs = 2000;

export async function completeDocument(
  { variable, value, given }: Pick<SourceCompletionRequest, "variable" | "value" | "given">,
  { collection, reading }: { readonly collection: DocumentCollection; readonly reading: DocumentReader },
  call: Call,
): Promise<readonly Suggestion[]> {
  const { lang, path } = given;
  switch (variable) {
    case "lang":
      return languages();
    case "path":
      return paths();
    case "heading":
      return headings();
    case "as":
      return "text".startsWith(value) ? [{ value: "text", reveals: { path: "" } }] : [];
    default:
      return [];
  }

  /** The languages of the chosen document, or of all documents if none is chosen. */
  async function languages(): Promise<Suggestion[]> {
    const { directories, byAddress } = await collection.look(call, maxAgeMs);
    const all = best(directories.get("") ?? [], value);
    const having = path === undefined ? [] : all.filter((each) => byAddress.has(`${each}/${path}`));
    if (having.length > 0) return having.map((each) => ({ value: each, reveals: { path: `${each}/${path}` } }));
    return all.map((each) => ({ value: each, reveals: { path: each } }));
  }

  async function paths(): Promise<Suggestion[]> {
    const { directories } = await collection.look(call, maxAgeMs);
    const slash = value.lastIndexOf("/");
    const above = value.slice(0, Math.max(0, slash));
    const found = new Map<string, Suggestion>();
    for (const each of lang === undefined ? (directories.get("") ?? []) : [lang]) {
      const folder = above === "" ? each : `${each}/${above}`;
      for (const name of best(directories.get(folder) ?? [], value.slice(slash + 1))) {
        const at = `${folder}/${name}`;
        const whole = at.slice(each.length + 1);
        const completed = directories.has(at) ? `${whole}/` : whole;
        if (!found.has(completed)) found.set(completed, { value: completed, reveals: { path: at } });
      }
    }
    return [...found.values()].slice(0, maxSuggestions);
  }

  async function headings(): Promise<Suggestion[]> {
    if (lang === undefined || path === undefined) return [];
    const found = await collection.find(`${lang}/${path}`, call);
    if (!found || !("placed" in found)) return [];
    const { placed } = found;
    const slugs = (await reading.headings(placed, call)).map(({ slug }) => slug);
    return best(slugs, value).map((slug) => ({ value: slug, reveals: { path: placed.address } }));
  }
}

/** Prefix matches, then prefix matches that ignore case, then substring matches. */
function best(names: readonly string[], typed: string): string[] {
  const folded = typed.toLowerCase();
  const rank = (name: string) => (name.startsWith(typed) ? 0 : name.toLowerCase().startsWith(folded) ? 1 : 2);
  return names
    .filter((name) => name.toLowerCase().includes(folded))
    .map((name) => ({ name, rank: rank(name) }))
    .sort((left, right) => left.rank - right.rank)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
}
