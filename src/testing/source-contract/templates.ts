/** Templates, and suggestions for their variables. */
import { parseTemplate } from "../../lib/uri-template.ts";
import { expectEqual, expectIncludes, expectSome, expectTrue, expectUnique, show } from "../expectations.ts";
import { textOf } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testTemplates({ read, setup, source, test }: ContractContext): void {
  const { expansions = [] } = setup;

  test("are relative to the mount, well formed, named, and unique", async () => {
    const templates = source().templates ?? [];
    expectSome(templates, "templates");
    for (const { template, name } of templates) {
      parseTemplate(template);
      expectTrue(
        !/^[a-z][a-z0-9+.-]*:\//i.test(template),
        `the template ${show(template)} is not relative to the mount`,
      );
      expectTrue(name !== "", `the template ${show(template)} has no name`);
    }
    expectUnique(
      templates.map(({ template }) => template),
      "templates",
    );
  });

  test(
    "expand to addresses that read",
    async () => {
      for (const { at, text } of expansions) {
        const parts = await read(at);
        expectSome(parts, `the content of ${show(at)}`);
        if (text !== undefined) expectEqual(textOf(parts), text, `read ${show(at)}`);
      }
    },
    expansions.length > 0 ? undefined : "the setup names no `expansions`",
  );
}

export function testComplete({ call, method, settled, setup, source, test }: ContractContext): void {
  const { completions = [] } = setup;

  async function complete(
    written: string,
    variable: string,
    value: string,
    given: Readonly<Record<string, string>> = {},
  ) {
    const template = source().templates?.find((other) => other.template === written);
    if (template === undefined) throw new Error(`the source has no template ${show(written)}, which the setup names`);
    const request = { template, variable, value, given };
    const suggestions = await settled(method("complete")(request, call()), "complete", written, variable, value);
    return suggestions.map((suggestion) => suggestion.value);
  }

  test("an unknown variable has no suggestions", async () => {
    for (const { template } of source().templates ?? [])
      expectEqual(await complete(template, "no-such-variable", ""), [], `an unknown variable of ${show(template)}`);
  });

  test(
    "suggests existing values, the best first",
    async () => {
      for (const { template, variable, value, given, expected, isBest } of completions) {
        const values = await complete(template, variable, value, given);
        const about = `suggestions for ${show(variable)} of ${show(template)} that begins with ${show(value)}`;
        expectIncludes(isBest ? values.slice(0, 1) : values, [expected], isBest ? `the best of the ${about}` : about);
        expectUnique(values, about);
      }
    },
    completions.length > 0 ? undefined : "the setup names no `completions`",
  );
}
