/** The programs of the pages are correct in their types, with the packed package. Other tests run those that can run. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createProject, type Project } from "../package/project.ts";
import { blocksIn, type CodeBlock, titleOf } from "./code-blocks.ts";

/** What a page says exists beside its program. Each is added where the program uses the name and does not declare it. */
const given: Readonly<Record<string, string>> = {
  token: "declare const token: string;",
  url: "declare const url: string;",
  png: "declare const png: Uint8Array;",
  task: "declare const task: string;",
  call: 'declare const call: import("pressmark").Call;',
  resources: 'declare const resources: import("pressmark").Resources;',
  connect: 'import { connect } from "pressmark/client";',
  currentToken: "declare function currentToken(): Promise<string>;",
  renewToken: "declare function renewToken(): Promise<void>;",
  codeFromTheRedirect: "declare function codeFromTheRedirect(): Promise<string>;",
  provider: 'declare const provider: import("@modelcontextprotocol/client").OAuthClientProvider;',
  runtime: 'declare const runtime: import("pressmark/source").Runtime;',
  notes: 'declare const notes: import("pressmark/source").SourceDefinition<{ readonly url: string }>;',
  backend: "declare let backend: Backend;",
  startBackend: "declare function startBackend(): Promise<Backend>;",
};
const backend = `interface Backend {
  url: string;
  put(path: string, text: string): Promise<void>;
  delete(path: string): Promise<void>;
  stop(): Promise<void>;
}`;

const programs = blocksIn("ts", "mts", "js", "mjs", "tsx");
const packages = ["@types/node", "@modelcontextprotocol/client", "express", "fastify", "hono", "@hono/node-server"];
let errors: ReadonlyMap<string, readonly string[]>;
let project: Project;
beforeAll(() => {
  project = createProject(...packages);
  for (const program of programs) project.write(fileOf(program), checkable(program));
  errors = errorsByFile(check());
});
afterAll(() => project[Symbol.dispose]());

function check(): string {
  return project.typeErrors({
    strict: true,
    target: "es2024",
    lib: ["es2024", "dom", "dom.iterable", "esnext.disposable"],
    module: "nodenext",
    types: ["node"],
    skipLibCheck: true,
    allowJs: true,
    checkJs: true,
  });
}

function fileOf({ page, line, language }: CodeBlock): string {
  return `${page.replaceAll(/\W+/g, "-")}-${line}.${language.replace(/^m?([tj]s)/, "m$1")}`;
}

/** JavaScript whose first line is its file name has no types, and is run by test/docs/embedding.test.ts and programs.test.ts. */
function checkable({ language, text }: CodeBlock): string {
  if (!language.includes("j")) return withGiven(text);
  return /^\/\/ \S+\.js$/m.test(text) ? `// @ts-nocheck\n${text}` : text;
}

/** Added below the program, so that lines stay as they are in the page. */
function withGiven(text: string): string {
  const isUsed = (name: string) => new RegExp(`(?<![\\w."])${name}\\b(?![":])`).test(text);
  const isDeclared = (name: string) =>
    new RegExp(`\\b(?:const|let|function|class) (?:\\{[^}]*)?${name}\\b|import \\{[^}]*\\b${name}\\b`).test(text);
  const added = Object.entries(given).flatMap(([name, line]) => (isUsed(name) && !isDeclared(name) ? [line] : []));
  const more = added.some((line) => line.includes("Backend")) ? backend : "";
  return `${text}\n${added.join("\n")}\n${more}\nexport {};\n`;
}

function errorsByFile(output: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const line of output.split("\n")) {
    const [, file = "", at] = /^(\S+?)\((.*)$/.exec(line) ?? [];
    if (at !== undefined) found.set(file, [...(found.get(file) ?? []), at]);
  }
  return found;
}

it.each(programs.map((program) => ({ program, title: titleOf(program) })))("$title", ({ program }) => {
  if (program.notRun === undefined) expect(errors.get(fileOf(program)) ?? []).toEqual([]);
});
