/** A template of a small server: one function that reads, with variables typed from the template's text. */
import { parseAddressTemplate } from "../backends/address-template.ts";
import { invalid, notFound, quote } from "../errors.ts";
import { splitTemplate } from "../lib/uri-template-syntax.ts";
import type { TemplateMatch } from "../lib/uri-template.ts";
import type { Call } from "../resources.ts";
import type { Address, SourceTemplate, Suggestion } from "../source.ts";
import type { MemoryTemplate } from "../sources/memory.ts";
import { type DefinedContent, readDefined, runDefined } from "./content.ts";
import type { TemplateVariableName, TemplateVariables } from "./template-variables.ts";

export interface TemplateDefinition<Template extends string> extends Partial<Omit<SourceTemplate, "template">> {
  /**
   * Reads one resource; undefined if there is none. Variables come from the caller's URI, decoded: any text, also with "/", "..", quotes
   * or control characters. Look them up; never put them into a path, a query or a command without a check.
   */
  read(
    variables: TemplateVariables<Template>,
    call: Call,
  ): DefinedContent | undefined | Promise<DefinedContent | undefined>;
  /** Suggestions for each variable, best first, for what was typed so far. Only values that all callers may know, unless they say what they reveal. */
  readonly complete?: {
    readonly [Name in TemplateVariableName<Template>]?: (
      value: string,
      given: Readonly<Partial<Record<TemplateVariableName<Template>, string>>>,
      call: Call,
    ) => readonly (string | Suggestion)[] | Promise<readonly (string | Suggestion)[]>;
  };
}

export interface DefinedTemplate<Variables = never> extends MemoryTemplate {
  /** The address of one resource of this template, for `link`, `embed` and `changed`. Throws "invalid" if no URI can contain a value. */
  at(variables: Variables): Address;
  matches(at: Address): boolean;
}

/** The template is RFC 6570, relative to the mount: `forecast/{city}{?days}`. */
export function template<const Template extends string>(
  text: Template,
  { read, complete, name, ...about }: TemplateDefinition<Template>,
): DefinedTemplate<TemplateVariables<Template>> {
  const required = checkForms(text);
  const parsed = parseAddressTemplate(text);
  const what = `the template ${quote(text)}`;

  return {
    ...about,
    template: text,
    name: name ?? about.title ?? nameOf(text),
    async read(_, call, at) {
      const match = matchAll(at);
      if (!match) throw notFound(at.path);
      const variables = Object.fromEntries(match) as TemplateVariables<Template>;
      return readDefined({ what, path: at.path, mimeType: about.mimeType }, call, () => read(variables, call));
    },
    ...(complete && {
      async complete(variable, value, given, call) {
        const functions: Readonly<Record<string, (typeof complete)[keyof typeof complete]>> = complete;
        const suggest = Object.hasOwn(functions, variable) ? functions[variable] : undefined;
        if (!suggest) return [];
        return runDefined(`completing ${quote(variable)} of ${what}`, call, () =>
          suggest(value, given as Parameters<typeof suggest>[1], call),
        );
      },
    }),
    at(variables) {
      const address = parsed.toAddress(variables as Parameters<typeof parsed.toAddress>[0]);
      if (!matchAll(address))
        throw invalid(`the values lead to ${quote(address.path)}, which does not match ${quote(text)}`);
      return address;
    },
    matches: (at) => matchAll(at) !== undefined,
  };

  /** Undefined also if a variable of the path is missing. */
  function matchAll(at: Address): TemplateMatch | undefined {
    const match = parsed.match(at);
    return match && required.every((each) => match.has(each)) ? match : undefined;
  }
}

/** Returns the variables of the path. Refuses forms whose values an address cannot tell apart. */
function checkForms(text: string): readonly string[] {
  const refuse = (why: string) => invalid(`the template ${quote(text)} cannot be served: ${why}`);
  if (/^(?:\/|[A-Za-z][\w+.-]*:\/)/.test(text))
    throw refuse('it is relative to the mount; begin with the path, as in "forecast/{city}"');
  const names = new Set<string>();
  const required: string[] = [];
  for (const piece of splitTemplate(text)) {
    if (typeof piece === "string") {
      if (piece.includes("#")) throw refuse("a resource has no fragment");
      continue;
    }
    const { operator, slots } = piece;
    const isQuery = operator === "?" || operator === "&";
    if (operator === "#" || operator === ";") throw refuse(`{${operator}…} is not supported; use {name} or {?name}`);
    for (const { name, exploded } of slots) {
      if (names.has(name)) throw refuse(`the variable ${quote(name)} occurs twice`);
      names.add(name);
      if (!isQuery) required.push(name);
      if (exploded && operator !== "/" && operator !== ".")
        throw refuse(`a list is written {/${name}*}, one segment for each value`);
    }
    if (slots.length > 1 && (operator === "" || operator === "+"))
      throw refuse('a comma may also be part of a value; write the variables apart, as in "{a}/{b}"');
  }
  return required;
}

/** The literal beginning, as in "forecast" for `forecast/{city}`. */
function nameOf(text: string): string {
  const [first] = splitTemplate(text);
  return typeof first === "string" ? first.replace(/\/$/, "") : text;
}
