/** Links between the pages lead to files and headings that exist, and pictures are there. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { headingsOf } from "../../src/sources/docs/headings.ts";
import { blocks, pages, proseOf, root, textOf } from "./code-blocks.ts";

const decisions = readdirSync(join(root, "docs/decisions")).map((name) => `docs/decisions/${name}`);

interface Link {
  readonly to: string;
  readonly line: number;
}

/** Links and pictures outside of code, in Markdown and HTML. */
function linksIn(text: string): readonly Link[] {
  const prose = proseOf(text).replaceAll(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
  const found = prose.matchAll(/\]\(<?([^\s()>]+)>?(?: "[^"]*")?\)|(?:href|src|srcset)="([^"\s]+)"/g);
  return Array.from(found, (match) => ({
    to: match[1] ?? match[2] ?? "",
    line: prose.slice(0, match.index).split("\n").length,
  }));
}

/** Undefined if the link holds. */
function problemOf(page: string, to: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(to)) return undefined;
  const [path = "", heading] = to.split("#");
  const file = path === "" ? page : join(dirname(page), decodeURIComponent(path));
  if (!existsSync(join(root, file))) return `there is no ${file}`;
  if (heading === undefined || !file.endsWith(".md") || statSync(join(root, file)).isDirectory()) return undefined;
  const slugs = headingsOf(textOf(file), "markdown").map(({ slug }) => slug);
  return slugs.includes(decodeURIComponent(heading)) ? undefined : `${file} has no heading #${heading}`;
}

it("finds links and what is wrong with them", () => {
  expect(linksIn('[a](b.md#c)\n`[no](x)`\n\n```\n[no](y)\n```\n<img src="d.png">')).toEqual([
    { to: "b.md#c", line: 1 },
    { to: "d.png", line: 7 },
  ]);
  expect(problemOf("docs/cli.md", "missing.md")).toBe("there is no docs/missing.md");
  expect(problemOf("docs/cli.md", "#missing")).toBe("docs/cli.md has no heading #missing");
  expect(problemOf("docs/cli.md", "#pressmark-ls")).toBeUndefined();
});

it.each([...pages, ...decisions, "CHANGELOG.md"])("the links of %s hold", (page) => {
  const problems = linksIn(textOf(page)).flatMap(({ to, line }) => {
    const problem = problemOf(page, to);
    return problem === undefined ? [] : [`${page}:${line}: ${problem}`];
  });
  expect(problems).toEqual([]);
});

const checked = "sh yaml yml json jsonc ts mts js mjs tsx".split(" ");
const unchecked = ["", ..."text md markdown sql ini nginx powershell toml dockerfile html http diff".split(" ")];

it("every block of code has a language that a test checks, or that is known to have none", () => {
  const unknown = blocks.filter(({ language }) => ![...checked, ...unchecked].includes(language));
  expect(unknown.map(({ page, line, language }) => `${page}:${line} ${language}`)).toEqual([]);
});
