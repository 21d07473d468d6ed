/** A template of a small server: one function that reads, with variables typed from the template's text. */
import { parseAddressTemplate } from "../backends/address-template.ts";
import { invalid, notFound, quote } from "../errors.ts";
import { splitTemplate } from "../lib/uri-template-syntax.ts";
import type { TemplateMatch } from "../lib/uri-template.ts";
import type { Call } from "../resources.ts";
import type { Address, SourceTemplate, Suggestion } from "../source.ts";
import type { MemoryTemplate } from "../sources/memory.ts";
import { checkFunction, checkMembers, checkRecord, checkText, kindOf, wrongKind } from "./check-definition.ts";
import { type DefinedContent, readDefined, suggestDefined } from "./content.ts";
import type { TemplateVariableName, TemplateVariables } from "./template-variables.ts";

/** None for undefined and null. */
export type DefinedSuggestions = readonly (string | Suggestion)[] | null | undefined;

export interface TemplateDefinition<Template extends string> extends Partial<Omit<SourceTemplate, "template">> {
  /**
   * Reads one resource; undefined or null if there is none. Variables come from the caller's URI, decoded: any text, also with "/", "..", quotes
   * or control characters. Look them up; never put them into a path, a query or a command without a check.
   */
  read(
    variables: TemplateVariables<Template>,
    call: Call,
  ): DefinedContent | null | undefined | Promise<DefinedContent | null | undefined>;
  /** Suggestions for each variable, best first, for what was typed so far. Only values that all callers may know, unless they say what they reveal. */
  readonly complete?: {
    readonly [Name in TemplateVariableName<Template>]?: (
      value: string,
      given: Readonly<Partial<Record<TemplateVariableName<Template>, string>>>,
      call: Call,
    ) => DefinedSuggestions | Promise<DefinedSuggestions>;
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
  definition: TemplateDefinition<Template>,
): DefinedTemplate<TemplateVariables<Template>> {
  if (typeof text !== "string") throw wrongKind("the template", text, 'a text, as in "forecast/{city}"');
  const { names, required } = checkForms(text);
  const what = `the template ${quote(text)}`;
  checkDefinition(definition, what, names);
  const { read, complete, name, ...about } = definition;
  const parsed = parseAddressTemplate(text);

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
        return suggestDefined(`completing ${quote(variable)} of ${what}`, call, () =>
          suggest(value, given as Parameters<typeof suggest>[1], call),
        );
      },
    }),
    at(variables) {
      checkValues(variables, what, names);
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

const definitionMembers = "read complete name title description mimeType annotations icons meta".split(" ");

function checkDefinition(definition: unknown, what: string, names: ReadonlySet<string>): void {
  checkMembers(definition, what, definitionMembers, "{ read }");
  const { read, complete, ...texts } = definition as Partial<TemplateDefinition<string>>;
  checkFunction(read, `"read" of ${what}`, "a function that returns the content");
  for (const member of ["name", "title", "description", "mimeType"] as const)
    checkText(texts[member], `${quote(member)} of ${what}`);
  if (complete === undefined) return;
  checkRecord(complete, `"complete" of ${what}`, "{ name: (typed) => […] }");
  for (const [name, suggest] of Object.entries(complete)) {
    if (!names.has(name)) throw noVariable(name, what, names);
    if (suggest !== undefined)
      checkFunction(suggest, `"complete" for ${quote(name)} of ${what}`, "a function that returns a list of texts");
  }
}

function checkValues(values: unknown, what: string, names: ReadonlySet<string>): void {
  checkRecord(values, `the parameter of "at" of ${what}`, "an object with the values of the variables");
  for (const [name, value] of Object.entries(values)) {
    if (!names.has(name)) throw noVariable(name, what, names);
    const wrong = Array.isArray(value) ? value.find((each) => typeof each !== "string") : value;
    if (wrong !== undefined && typeof wrong !== "string")
      throw invalid(`the value of ${quote(name)} for ${what} is ${kindOf(wrong)}; write a text`);
  }
}

function noVariable(name: string, what: string, names: ReadonlySet<string>): Error {
  return invalid(
    `${quote(name)} is no variable of ${what}; it has ${[...names].map((each) => quote(each)).join(", ") || "none"}`,
  );
}

/** Returns all variables, and those of the path. Refuses forms whose values an address cannot tell apart. */
function checkForms(text: string): { readonly names: ReadonlySet<string>; readonly required: readonly string[] } {
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
  return { names, required };
}

/** The literal beginning, as in "forecast" for `forecast/{city}`. */
function nameOf(text: string): string {
  const [first] = splitTemplate(text);
  return typeof first === "string" ? first.replace(/\/$/, "") : text;
}
