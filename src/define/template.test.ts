import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { parseTemplate } from "../lib/uri-template.ts";
import { createResources } from "../router/create-resources.ts";
import { createClock } from "../testing/clock.ts";
import { defineResources } from "./define-resources.ts";
import type { TemplateVariables } from "./template-variables.ts";
import { template } from "./template.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };

const hasNoDots = (path: string) => !path.split("/").some((segment) => segment === "." || segment === "..");
const empty = { read: () => "" };

describe("the type of a template's variables", () => {
  it("has those of the path, and optionally those of the query", () => {
    expectTypeOf<TemplateVariables<"forecast/{city}{?days,unit}">>().toEqualTypeOf<{
      readonly city: string;
      readonly days?: string;
      readonly unit?: string;
    }>();
    expectTypeOf<TemplateVariables<"x?a=1{&b}">>().toEqualTypeOf<{ readonly b?: string }>();
    expectTypeOf<TemplateVariables<"{user}/{+path}">>().toEqualTypeOf<{
      readonly user: string;
      readonly path: string;
    }>();
    expectTypeOf<TemplateVariables<"x{/a,b}{.type}">>().toEqualTypeOf<{
      readonly a: string;
      readonly b: string;
      readonly type: string;
    }>();
    expectTypeOf<TemplateVariables<"x{/path*}">>().toEqualTypeOf<{ readonly path: readonly string[] }>();
    expectTypeOf<TemplateVariables<"x/{id:8}">>().toEqualTypeOf<{ readonly id: string }>();
    expectTypeOf<TemplateVariables<string>>().toEqualTypeOf<
      Readonly<Record<string, string | readonly string[] | undefined>>
    >();
  });

  it("makes a misspelt variable an error", () => {
    const forecast = template("forecast/{city}{?days}", {
      complete: { city: () => ["Kyoto"], days: (_value, { city }) => [city ?? ""] },
      read: ({ city, days = "1" }) => city.toUpperCase() + days.length,
    });
    const wrong = [
      // @ts-expect-error -- "cty" is not a variable
      template("a/{city}", { read: ({ cty }) => `${cty}` }),
      // @ts-expect-error -- "cty" is not a variable
      template("c/{city}", { complete: { city: (_value, { cty }) => [`${cty}`] }, read: ({ city }) => city }),
      // @ts-expect-error -- a variable of the query may be missing
      template("d/{city}{?days}", { read: ({ days }) => days.length.toFixed() }),
      // @ts-expect-error -- a list is not a text
      template("e{/path*}", { read: ({ path }) => path }),
    ];
    expect(wrong).toHaveLength(4);
    // @ts-expect-error -- "cty" is not a variable
    expect(() => template("b/{city}", { complete: { cty: () => [] }, read: ({ city }) => city })).toThrow(
      "no variable",
    );
    expect(forecast.at({ city: "Kyoto", days: "3" })).toEqual({ path: "forecast/Kyoto", query: { days: "3" } });
    // @ts-expect-error -- "city" is missing
    expect(() => forecast.at({ days: "3" })).toThrow("does not match");
  });
});

describe("a template", () => {
  it.each([
    ["x{#part}", "{#…} is not supported"],
    ["x{;a}", "{;…} is not supported"],
    ["x#{a}", "no fragment"],
    ["{a,b}", 'write the variables apart, as in "{a}/{b}"'],
    ["{a*}", "a list is written {/a*}"],
    ["x{?a*}", "a list is written {/a*}"],
    ["/x/{a}", "relative to the mount"],
    ["weather://x/{a}", "relative to the mount"],
    ["{a}/{a}", '"a" occurs twice'],
    ["x{a", "not closed"],
  ])("%j is refused when it is defined", (text, why) => {
    expect(() => template(text, empty)).toThrow(why);
  });

  it("is named after its title, or after its beginning", () => {
    expect(template("forecast/{city}", empty).name).toBe("forecast");
    expect(template("forecast/{city}", { ...empty, title: "Forecast" }).name).toBe("Forecast");
    expect(template("{city}", empty).name).toBe("{city}");
  });

  it("refuses to make an address of values that no URI can contain", () => {
    const page = template("pages/{name}", { read: ({ name }) => name });
    for (const name of ["..", ".", "a\0b", "\ud800", ""]) expect(() => page.at({ name }), name).toThrow();
    expect(page.at({ name: "a/../b" }).path).toBe("pages/a\0..\0b");
  });
});

describe("URIs that a client expands from a listed template", () => {
  const any = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({ unit: "binary" }),
    fc.array(fc.constantFrom(..."ab/?#&=;,.@%:+ !'()*[]$\"<>日本😀")).map((some) => some.join("")),
  );
  const value = any.filter((text) => text.isWellFormed() && !text.includes("\0"));
  /** A segment is not empty, and not "." or "..": no URI can contain those. */
  const segment = value.filter((text) => !["", ".", ".."].includes(text));
  const undotted = segment.map((text) => text.replaceAll(".", "-"));
  /** `{+a}` keeps escapes, and "?" and "#" have a meaning there. */
  const path = fc
    .array(
      segment.filter((text) => !/[%?#/]/.test(text)),
      { minLength: 1, maxLength: 4 },
    )
    .map((some) => some.join("/"));
  const list = fc.array(segment, { minLength: 1, maxLength: 4 });

  it.each<
    [text: string, required: Record<string, fc.Arbitrary<unknown>>, optional: Record<string, fc.Arbitrary<unknown>>]
  >([
    ["forecast/{city}{?days,unit}", { city: segment }, { days: value, unit: value }],
    ["{city}", { city: segment }, {}],
    ["{user}/it's:@{id}/(x)", { user: segment, id: segment }, {}],
    ["x?fixed=1,2{&a}", {}, { a: value }],
    ["docs/{+path}", { path }, {}],
    ["docs/{+path}{?lines}", { path }, { lines: value }],
    ["files{/path*}", { path: list }, {}],
    ["files{/a,b}{?c}", { a: segment, b: segment }, { c: value }],
    ["日本/{name}{.type}", { name: undotted, type: undotted }, {}],
  ])("read the same variables: %s", async (text, required, optional) => {
    const defined = template(text, { read: (variables) => ({ json: variables }) });
    const values = fc.tuple(fc.record(required), fc.record(optional, { requiredKeys: [] }));
    for (const base of ["w://", "w://mount/"]) {
      const resources = createResources({
        mounts: [{ name: "w", base, source: defineResources({ templates: [defined] }) }],
        policy: openPolicy,
        runtime: createClock().runtime,
        cursorKey: new Uint8Array(32),
      });
      const [listed] = (await resources.templates({}, call)).items;
      const parsed = parseTemplate(listed?.uriTemplate ?? "");
      await fc.assert(
        fc.asyncProperty(values, async ([some, others]) => {
          const given = { ...some, ...others } as Record<string, string>;
          const { contents } = await resources.read(parsed.expand(given), call);
          expect(JSON.parse(contents[0] && "text" in contents[0].body ? contents[0].body.text : "")).toEqual(given);
          expect(defined.matches(defined.at(given))).toBe(true);
        }),
        { numRuns: 300 },
      );
      await resources.close();
    }
  });

  it.each<[text: string, values: Record<string, fc.Arbitrary<unknown>>]>([
    ["docs/{+path}{?lines}", { path: list.map((some) => some.join("/")).filter(hasNoDots), lines: value }],
    ["{name}/x{/more*}", { name: segment, more: list }],
  ])("agree with addresses that the program makes, whatever the values: %s", async (text, values) => {
    const defined = template(text, { read: (variables) => ({ json: variables }) });
    const source = defineResources({ templates: [defined] });
    await fc.assert(
      fc.asyncProperty(fc.record(values), async (given) => {
        const [part] = await source.read(defined.at(given as Record<string, string>), call);
        expect(JSON.parse(part && "text" in part.body ? part.body.text : "")).toEqual(given);
      }),
      { numRuns: 1000 },
    );
  });

  it("never call a function without the variables of the path", async () => {
    const seen: unknown[] = [];
    const read = (variables: object) => {
      seen.push(variables);
      return "x";
    };
    const source = defineResources({ templates: [template("a/{b}{?c}", { read }), template("x{/y}", { read })] });
    for (const missing of ["a/", "a", "x", "a/b/c"])
      await expect(source.read({ path: missing }, call), missing).rejects.toMatchObject({ kind: "not-found" });
    await expect(source.read({ path: "a/b", query: { d: "1" } }, call)).rejects.toMatchObject({ kind: "not-found" });
    expect(seen).toEqual([]);
    await source.read({ path: "x/" }, call);
    await source.read({ path: "a/__proto__", query: { c: "" } }, call);
    expect(seen).toEqual([{ y: "" }, { b: "__proto__", c: "" }]);
  });
});
