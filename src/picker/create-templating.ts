/** Lists templates, and suggests values of a variable, given those before it. */
import { walkPages } from "../client/walk-pages.ts";
import { expandTemplate } from "../lib/uri-template-expand.ts";
import { splitTemplate } from "../lib/uri-template-syntax.ts";
import type { Template } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";
import type { Filling, Templates, Variable } from "./state.ts";

const pauseMs = 80;
/** Variables with these operators are optional. */
const optional = new Set(["?", "&", "#", ";"]);

export function createTemplating(part: PagePart) {
  let asking = new AbortController();

  function change(next: Partial<Templates>): void {
    part.change({ templates: { ...part.state.templates, ...next } });
  }

  function refill(next: Partial<Filling>): void {
    const { filling } = part.state.templates;
    if (filling) change({ filling: { ...filling, ...next } });
  }

  async function load(): Promise<void> {
    change({ status: "loading" });
    try {
      const items: Template[] = [];
      for await (const template of walkPages((request) => part.pressmark().templates(request, part.call())))
        items.push(template);
      change({ status: "ready", items });
    } catch (cause) {
      change({ status: "failed", problem: messageOf(cause) });
    }
  }

  /** Suggestions for the current variable and the typed text. */
  async function suggest(value: string, isTyped: boolean): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const { filling } = part.state.templates;
    const variable = filling?.variables[filling.at];
    if (!filling || !variable) return;
    refill({ isAsking: true });
    if (isTyped) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return;
    const { [variable.name]: _, ...given } = filling.values;
    try {
      const request = { template: filling.template.uriTemplate, variable: variable.name, value, given };
      const { values, more = false } = await part.pressmark().complete(request, part.call(signal));
      if (!signal.aborted) refill({ suggestions: values, hasMore: more, isAsking: false });
    } catch {
      // The person can still type a value.
      if (!signal.aborted) refill({ suggestions: [], hasMore: false, isAsking: false });
    }
  }

  function goTo(at: number, values: Filling["values"]): void {
    const { filling } = part.state.templates;
    if (!filling) return;
    const { problem: _, ...rest } = filling;
    const written = { ...rest, at, values, suggestions: [], hasMore: false, isAsking: false };
    change({ filling: { ...written, ...expanded(filling.template, values) } });
    // All suggestions, even if there is a value: a person who returns wants another one.
    void suggest("", false);
  }

  return {
    loadTemplates: () => void load(),
    fill(template: Template): void {
      const variables = variablesOf(template);
      const empty = { suggestions: [], hasMore: false, isAsking: false };
      change({ filling: { template, variables, values: {}, at: 0, ...empty, ...expanded(template, {}) } });
      void suggest("", false);
    },
    /** Returns to the list. */
    unfill(): void {
      asking.abort();
      const { filling: _, ...rest } = part.state.templates;
      part.change({ templates: rest });
    },
    /** The text typed so far for the current variable. */
    typeValue: (value: string) => void suggest(value, true),
    /** Sets the current variable and continues with the next. */
    setValue(value: string): void {
      const { filling } = part.state.templates;
      const variable = filling?.variables[filling.at];
      if (!filling || !variable) return;
      const { [variable.name]: _, ...others } = filling.values;
      goTo(filling.at + 1, value === "" ? others : { ...others, [variable.name]: value });
    },
    /** Returns to a variable; later ones must be set again. */
    goToVariable(at: number): void {
      const { filling } = part.state.templates;
      if (filling) goTo(at, filling.values);
    },
  };
}

/** In the order of the template. Empty for an invalid template. */
export function variablesOf({ uriTemplate }: Template): readonly Variable[] {
  const found = new Map<string, Variable>();
  for (const { name, operator, exploded } of slotsOf(uriTemplate)) {
    const before = found.get(name);
    const isOptional = optional.has(operator) && (before?.isOptional ?? true);
    found.set(name, { name, isOptional, isPath: (operator === "/" && exploded) || (before?.isPath ?? false) });
  }
  return [...found.values()];
}

function slotsOf(uriTemplate: string) {
  try {
    return splitTemplate(uriTemplate).flatMap((piece) =>
      typeof piece === "string" ? [] : piece.slots.map((slot) => ({ ...slot, operator: piece.operator })),
    );
  } catch {
    return [];
  }
}

/** Expands the template. Slashes of a path variable are preserved. */
export function expanded(template: Template, values: Filling["values"]): Pick<Filling, "uri" | "problem"> {
  const { uriTemplate } = template;
  try {
    const written = variablesOf(template).flatMap(({ name, isPath }) => {
      const value = values[name];
      return value === undefined ? [] : [[name, isPath ? value.split("/").filter((each) => each !== "") : value]];
    });
    return { uri: expandTemplate(uriTemplate, Object.fromEntries(written)) };
  } catch (cause) {
    return { uri: uriTemplate, problem: cause instanceof Error ? cause.message : String(cause) };
  }
}
