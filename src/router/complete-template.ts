/** Lists templates under the URIs of their mounts, and completes their variables. */
import { cancelled, invalid, quote, ResourceError } from "../errors.ts";
import { createListFilter } from "../lib/list-filter.ts";
import { parseTemplate } from "../lib/uri-template.ts";
import type { UriTemplate } from "../lib/uri-template.ts";
import type { Call, Resources, Template } from "../resources.ts";
import type { SourceTemplate, Suggestion } from "../source.ts";
import { unfit } from "./cursor.ts";
import type { Access } from "./access.ts";
import type { FairIndex } from "./fair-index.ts";
import type { ResourceReader } from "./read-resource.ts";
import type { RoutedMount, Location } from "./route.ts";

const maxValues = 100;
/** If the source has fewer suggestions, the index is searched too; not for a single letter, which matches too much. */
const fewValues = 10;
const fromIndex = 20;
const shortestAsked = 2;

/** A template of a source, as callers see it. */
interface Shown {
  readonly mount: RoutedMount;
  readonly own: SourceTemplate;
  readonly template: Template;
  readonly parsed: UriTemplate;
  readonly expressions: readonly Expression[];
}

interface Expression {
  /** Position in the template. */
  readonly start: number;
  readonly operator: string;
  readonly names: readonly string[];
  readonly exploded: ReadonlySet<string>;
}

export function createCompletion(
  access: Access,
  { stat }: Pick<ResourceReader, "stat">,
  index?: FairIndex,
): Pick<Resources, "templates" | "complete"> {
  /** Cached while a source has the same templates. */
  const known = new Map<RoutedMount, { own: readonly SourceTemplate[]; shown: readonly Shown[] }>();

  function shownBy(mount: RoutedMount): readonly Shown[] {
    const own = mount.source.templates;
    if (own === undefined || own.length === 0) return [];
    const cached = known.get(mount);
    if (cached?.own === own) return cached.shown;
    const shown = own.flatMap((template) => toShown(template, mount) ?? []);
    known.set(mount, { own, shown });
    return shown;
  }

  function toShown(own: SourceTemplate, mount: RoutedMount): Shown | undefined {
    const uriTemplate = underMount(own.template, mount);
    try {
      const parsed = parseTemplate(uriTemplate);
      const { template: _, ...rest } = own;
      return { mount, own, template: { ...rest, uriTemplate }, parsed, expressions: expressionsOf(uriTemplate) };
    } catch (cause) {
      access.runtime.log("warn", "left out: a template that cannot be parsed", {
        mount: mount.name,
        uriTemplate,
        cause,
      });
      return undefined;
    }
  }

  async function visibleTo(call: Call): Promise<Shown[]> {
    const mounts = access.routes.mounts.filter((mount) => access.mayEnter(call, mount));
    await Promise.all(mounts.map((mount) => mount.source.learnTemplates?.(call)));
    return mounts.flatMap(shownBy);
  }

  async function suggest(shown: Shown, variable: string, value: string, given: Record<string, string>, call: Call) {
    const { mount, own } = shown;
    try {
      return (await mount.source.complete?.({ template: own, variable, value, given }, call)) ?? [];
    } catch (cause) {
      const error = access.refusal(cause, { uri: shown.template.uriTemplate, mount, asked: "complete" }, call);
      // A missing address has no suggestions.
      if (error.kind === "not-found") return [];
      throw error;
    }
  }

  /** Indexed entries with the value in their path, if the template can express them. */
  async function suggestIndexed(
    { mount, parsed }: Shown,
    variable: string,
    value: string,
    given: Record<string, string>,
    call: Call,
  ): Promise<Suggestion[]> {
    // An incomplete index may hold entries that are gone.
    if (value.length < shortestAsked || index?.ready(mount.name) !== 1) return [];
    const typed = value.toLowerCase();
    try {
      const hits = await index.search({ text: value, limit: maxValues, mounts: [mount.name], typing: true }, call);
      return hits.flatMap(({ entry: { path, query, reveals } }) => {
        const uri = path.toLowerCase().includes(typed) ? access.routes.format(mount, { path, query }) : undefined;
        const match = uri === undefined ? undefined : parsed.match(uri);
        const found = match?.get(variable);
        const fits = match && Object.entries(given).every(([name, settled]) => match.get(name) === settled);
        if (!fits || typeof found !== "string" || !access.mayFind(call, mount, { path, query })) return [];
        return [{ value: found, reveals: { path, query, reveals } }];
      });
    } catch (cause) {
      if (call.signal.aborted) throw cancelled(cause);
      // A value that is no valid query has no suggestions.
      return [];
    }
  }

  /** Returns whether the caller may know what this suggestion reveals. */
  function maySuggest(
    suggestion: Suggestion,
    shown: Shown,
    variable: string,
    given: Record<string, string>,
    call: Call,
  ) {
    const { reveals } = suggestion;
    if (reveals) return access.maySee(call, shown.mount, reveals) && access.mayReach(call, shown.mount, reveals);
    const { value } = suggestion;
    const mayReach = (text: string) => {
      const place = locationOf(shown, { ...given, [variable]: text });
      return place?.mount === shown.mount && access.maySee(call, place.mount, place.at);
    };
    if (!mayReach(value)) return false;
    // With operator "+", the value stands in the URI unescaped and may also be read as a name, which must be visible too.
    const asIs = shown.expressions.some(({ operator, names }) => operator === "+" && names.includes(variable));
    const asName = value.replace(/[%?#]/g, encodeURIComponent);
    return !asIs || asName === value || mayReach(asName);
  }

  /** The location that the given values lead to; undefined if no URI can hold them. */
  function locationOf(shown: Shown, values: Record<string, string>): Location | undefined {
    try {
      return access.routes.find(givenUri(shown, values));
    } catch {
      return undefined;
    }
  }

  return {
    async templates({ cursor, filter = {} }, call) {
      // All templates fit on one page, so no cursor for a second was ever returned.
      if (cursor !== undefined) throw unfit();
      const matches = createListFilter(filter);
      const items = (await visibleTo(call)).map(({ template }) => template);
      return { items: items.filter(({ name, uriTemplate }) => matches(name, uriTemplate)) };
    },

    async complete({ template, variable, value, given: offered }, call) {
      const shown = (await visibleTo(call)).find((one) => one.template.uriTemplate === template);
      if (shown === undefined) {
        await stat(template, call).catch((cause: unknown) => {
          if (!isMissing(cause)) throw cause;
          throw invalid(`no template ${quote(template)}; list the templates to see those that exist`);
        });
        return { values: [] };
      }
      const { variables } = shown.parsed;
      if (!variables.includes(variable)) return { values: [] };
      const given: Record<string, string> = Object.create(null);
      for (const name of variables) {
        const settled = name !== variable && Object.hasOwn(offered, name) ? offered[name] : undefined;
        if (settled !== undefined) given[name] = settled;
      }

      const values = new Set<string>();
      for (const suggestion of await suggest(shown, variable, value, given, call)) {
        if (!values.has(suggestion.value) && maySuggest(suggestion, shown, variable, given, call))
          values.add(suggestion.value);
      }
      if (values.size < fewValues)
        for (const suggestion of await suggestIndexed(shown, variable, value, given, call)) {
          if (values.size >= fromIndex) break;
          if (maySuggest(suggestion, shown, variable, given, call)) values.add(suggestion.value);
        }
      return { values: [...values].slice(0, maxValues), total: values.size, more: values.size > maxValues };
    },
  };
}

function isMissing(cause: unknown): boolean {
  return cause instanceof ResourceError && (cause.kind === "not-found" || cause.kind === "invalid");
}

/** A template that begins with a slash or question mark continues the mount's own URI. */
export function underMount(template: string, { base, root }: RoutedMount): string {
  const continues = template === "" || template.startsWith("{/") || template.startsWith("{?");
  return (continues && !root.endsWith("/") ? root : base) + template;
}

function expressionsOf(template: string): Expression[] {
  const expressions: Expression[] = [];
  for (let start = template.indexOf("{"); start >= 0; start = template.indexOf("{", start + 1)) {
    const inner = template.slice(start + 1, template.indexOf("}", start));
    const operator = "+#./;?&".includes(inner.charAt(0)) ? inner.charAt(0) : "";
    const specs = inner.slice(operator.length).split(",");
    expressions.push({
      start,
      operator,
      names: specs.map(nameOf),
      exploded: new Set(specs.filter((spec) => spec.endsWith("*")).map(nameOf)),
    });
  }
  return expressions;
}

/** Removes the star or the length after a name. */
function nameOf(spec: string): string {
  return spec.replace("*", "").split(":", 1)[0] ?? "";
}

/**
 * Expands the URI as far as variables are given: completely if every variable of the path has a value, otherwise up to the last
 * directory before the first missing one. Throws for values that no URI can hold.
 */
function givenUri({ parsed, template, expressions, mount }: Shown, values: Record<string, string>): string {
  const open = expressions.find(
    ({ operator, names }) => operator !== "?" && operator !== "&" && names.some((name) => !Object.hasOwn(values, name)),
  );
  const spread: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of Object.entries(values)) {
    spread[name] = expressions.some(({ exploded }) => exploded.has(name)) ? value.split("/") : value;
  }
  if (open === undefined) return parsed.expand(spread);
  const settled = parseTemplate(template.uriTemplate.slice(0, open.start)).expand(spread);
  const end = open.operator === "/" ? settled.length : settled.lastIndexOf("/");
  return end < mount.base.length ? mount.root : settled.slice(0, end);
}
