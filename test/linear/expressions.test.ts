/** No regular expression in the sources can be made to try a text in more ways than the text is long. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { analyse } from "scslre";
import { expect, it } from "vitest";
import { secretContexts } from "../../src/lib/secret-contexts.ts";
import { secretRules } from "../../src/lib/secret-rules.ts";
import { inAnyScript } from "../../src/search/any-script.ts";

const sources = join(import.meta.dirname, "../../src");
/** What only tests use. */
const ofTests = /(?:\.test|(?:^|\/)test-[^/]*)\.tsx?$|^testing\//;

const all = [...expressions()];

it("every expression takes time in proportion to its text", () => {
  expect(all.length).toBeGreaterThan(500);
  expect(all.filter(({ source, flags }) => isSlow(source, flags)).map(({ where }) => where)).toEqual([]);
});

it("so does every one of the rules for secrets, which are put together", () => {
  expect([...secretRules, ...secretContexts].filter(({ pattern: { source, flags } }) => isSlow(source, flags))).toEqual(
    [],
  );
});

it("so does every one for names, in letters of every script", () => {
  const found = all.filter(({ where, source }) => where.startsWith("src/search/") && source.includes("\\w"));
  expect(found.length).toBeGreaterThan(50);
  const widened = found.map(({ where, source, flags }) => ({
    where,
    pattern: inAnyScript(new RegExp(source, flags))(),
  }));
  expect(widened.filter(({ pattern: { source, flags } }) => isSlow(source, flags)).map(({ where }) => where)).toEqual(
    [],
  );
});

it("those that are not are told from those that are", () => {
  for (const slow of ["(?:a+/)*b", "a+$", "[?#].*$", "^(a*)(.*)$", "(a|a)*b"]) expect(isSlow(slow, "")).toBe(true);
  for (const fast of ["^a+$", "(?<!a)a+$", "[?#]", "a[^ab]*b"]) expect(isSlow(fast, "")).toBe(false);
});

function isSlow(source: string, flags: string): boolean {
  return analyse({ source, flags }, { reportTypes: { Trade: true, Self: true, Move: true } }).reports.length > 0;
}

function* expressions(): Generator<{ readonly where: string; readonly source: string; readonly flags: string }> {
  for (const file of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(file) || ofTests.test(file)) continue;
    const text = readFileSync(join(sources, file), "utf8");
    for (const node of nodesOf(parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }))) {
      const regex = node["regex"] as { readonly pattern: string; readonly flags: string } | undefined;
      if (node["type"] !== "Literal" || !regex) continue;
      const line = text.slice(0, node["start"] as number).split("\n").length;
      yield { where: `src/${file}:${line}`, source: regex.pattern, flags: regex.flags };
    }
  }
}

function* nodesOf(value: unknown): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== "object" || value === null) return;
  if ("type" in value) yield value as Record<string, unknown>;
  for (const inner of Object.values(value)) yield* nodesOf(inner);
}
