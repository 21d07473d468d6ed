/** Which module may import which. docs/architecture.md shows the same table. */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";

const root = import.meta.dirname;

const core = ["resources", "source", "layer", "errors", "runtime"];
const server = [
  "backends",
  "state",
  "sources",
  "layers",
  "access",
  "watch",
  "search",
  "context",
  "router",
  "define",
  "protocol",
  "transport",
  "client",
  "config",
  "auth",
];

/** A module may always import itself. `index.ts` may import any. */
const allowedImports: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  core: ["lib"],
  backends: ["core", "lib"],
  state: ["core", "lib", "backends"],
  sources: ["core", "lib", "backends"],
  layers: ["core", "lib"],
  access: ["core", "lib"],
  watch: ["core", "lib", "state"],
  search: ["core", "lib", "state"],
  context: ["core", "lib", "search"],
  router: ["core", "lib", "access", "watch", "search"],
  define: ["core", "lib", "backends", "sources", "router"],
  protocol: ["core", "lib", "context"],
  transport: ["core", "lib", "protocol"],
  client: ["core", "lib"],
  config: ["core", "lib", "backends", "sources", "layers", "access", "search"],
  auth: ["core", "lib", "state", "access", "backends", "config"],
  server: ["core", "lib", ...server],
  cli: ["core", "lib", "state", "auth", "server", "client", "config", "context"],
  picker: ["core", "lib", "client"],
  testing: ["core", "lib"],
  "source-kit": ["core", "lib", "backends"],
  index: ["core", "lib", ...server, "server", "source-kit", "testing"],
};

/** Additional imports of a file and of the folder with its name. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // A remote server as a source.
  "sources/mcp": ["client"],
  // Agreement is measured in the same words that search uses.
  "sources/analysis/agreement": ["search"],
  // What the database has found is compared with what a match contains.
  "sources/postgres/search": ["search"],
};

/** Tests and their support files may import any module, and no module may import them. */
const ofTests = /(?:\.test|(?:^|\/)test-[^/]*)\.tsx?$/;

/** Modules that also run in a browser. */
const withoutNode = ["client", "picker"];

interface Import {
  readonly file: string;
  readonly specifier: string;
  /** Whether the import loads the file: types do not, and a thread loads its own copy. */
  readonly loads: boolean;
}

describe("the modules", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => /\.tsx?$/.test(file) && !ofTests.test(file))
    .sort();
  const imports = files.flatMap((file) => importsOf(file));

  it("are all in the table", () => {
    expect(files.filter((file) => !(moduleOf(file) in allowedImports))).toEqual([]);
  });

  it("import only what the table allows", () => {
    expect(imports.map(forbiddenImport).filter((sentence) => sentence !== undefined)).toEqual([]);
  });

  it("for browsers import nothing from Node", () => {
    expect(
      imports
        .filter(({ file, specifier }) => withoutNode.includes(moduleOf(file)) && specifier.startsWith("node:"))
        .map(({ file, specifier }) => `src/${file} imports ${specifier}, and ${moduleOf(file)} must run without Node`),
    ).toEqual([]);
  });

  it("import nothing from tests", () => {
    expect(imports.filter(({ specifier }) => ofTests.test(specifier)).map(({ file }) => file)).toEqual([]);
  });

  it("load no file that loads them", () => {
    expect(cyclesIn(imports)).toEqual([]);
  });

  it("would report a cycle of any form", () => {
    const imported = [
      ...importsIn("lib/a.ts", `import { type B, b } from "./b.ts"; import type { C } from "./c.ts";`),
      ...importsIn("lib/b.ts", `const a = () => import("./a.ts"); export { d } from "./d.ts";`),
      ...importsIn("lib/c.ts", `import { type A } from "./a.ts"; import { b } from "./b.ts";`),
      ...importsIn("lib/d.ts", `new Worker(new URL("./b.ts", import.meta.url)); import "../e.ts";`),
      ...importsIn("e.ts", `export * from "./lib/d.ts";`),
    ];
    expect(cyclesIn(imported)).toEqual(["lib/a.ts lib/b.ts", "e.ts lib/d.ts"]);
  });

  it("would report a forbidden import of any form", () => {
    const imported = importsIn(
      "lib/example.ts",
      `import type { A } from "../errors.ts";
       export { b } from "../source.ts";
       const c: import("../layer.ts").Layer = await import("../router/route.ts");
       new Worker(new URL("../sources/file.ts", import.meta.url));
       import d from "./uri-template.ts";`,
    );
    expect(imported.map(forbiddenImport)).toEqual([
      "src/lib/example.ts imports src/errors.ts: lib may import no other module, not core",
      "src/lib/example.ts imports src/source.ts: lib may import no other module, not core",
      "src/lib/example.ts imports src/layer.ts: lib may import no other module, not core",
      "src/lib/example.ts imports src/router/route.ts: lib may import no other module, not router",
      "src/lib/example.ts imports src/sources/file.ts: lib may import no other module, not sources",
      undefined,
    ]);
  });
});

describe("the sources", () => {
  it("do not import each other", () => {
    const files = readdirSync(join(root, "sources"), { recursive: true, encoding: "utf8" })
      .map((file) => `sources/${file.split(sep).join("/")}`)
      .filter((file) => file.endsWith(".ts") && !ofTests.test(file) && file !== "sources/index.ts");
    expect(
      files
        .flatMap(importsOf)
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ file, specifier }) => ({ file, target: join(dirname(file), specifier).split(sep).join("/") }))
        .filter(({ file, target }) => target.startsWith("sources/") && sourceOf(target) !== sourceOf(file))
        .map(({ file, target }) => `src/${file} imports src/${target}: move what both need to backends/`),
    ).toEqual([]);
  });

  it("are all named in their index", () => {
    const files = readdirSync(join(root, "sources")).filter(
      (file) => file.endsWith(".ts") && !ofTests.test(file) && file !== "index.ts",
    );
    const named = importsOf("sources/index.ts").map(({ specifier }) => specifier);
    expect(
      files
        .filter((file) => !named.includes(`./${file}`))
        .map((file) => `src/sources/index.ts lacks ${file}: add ${basename(file, ".ts")}: () => import("./${file}")`),
    ).toEqual([]);
  });
});

/** The name of the source that a file belongs to: git for sources/git.ts and sources/git/log.ts. */
function sourceOf(file: string): string | undefined {
  return file.split("/")[1]?.replace(/\.ts$/, "");
}

function forbiddenImport({ file, specifier }: Import): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const target = relative(root, join(root, dirname(file), specifier))
    .split(sep)
    .join("/");
  const [from, to] = [moduleOf(file), moduleOf(target)];
  const more = Object.keys(exceptions).find((name) => file === `${name}.ts` || file.startsWith(`${name}/`)) ?? "";
  const allowedModules = [from, ...(allowedImports[from] ?? []), ...(exceptions[more] ?? [])];
  if (allowedModules.includes(to)) return undefined;
  const names = allowedImports[from]?.join(", ") || "no other module";
  return `src/${file} imports src/${target}: ${from} may import ${names}, not ${to}`;
}

function moduleOf(file: string): string {
  const [first = "", second] = file.split("/");
  if (second !== undefined) return first;
  const name = first.replace(/\.ts$/, "");
  return core.includes(name) ? "core" : name;
}

function importsOf(file: string): Import[] {
  return importsIn(file, readFileSync(join(root, file), "utf8"));
}

/** Finds static, dynamic and type imports, re-exports, and worker files, in text order. */
function importsIn(file: string, text: string): Import[] {
  const imports: Import[] = [];
  visit(parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }), (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) imports.push({ file, specifier, loads: isLoading(node) });
  });
  return imports;
}

type Node = Readonly<Record<string, unknown>>;

function specifierOf(node: Node): string | undefined {
  switch (node["type"]) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ExportNamedDeclaration":
    case "ImportExpression":
    case "TSImportType":
      return textOf(node["source"] ?? node["argument"]);
    case "NewExpression": {
      const [first, second] = node["arguments"] as readonly Node[];
      const isAddress = (node["callee"] as Node)["name"] === "URL" && second?.["type"] === "MemberExpression";
      const text = isAddress ? textOf(first) : undefined;
      return text?.endsWith(".ts") ? text : undefined;
    }
    default:
      return undefined;
  }
}

function isLoading(node: Node): boolean {
  if (node["type"] === "TSImportType" || node["type"] === "NewExpression") return false;
  const isType = (each: Node) => (each["importKind"] ?? each["exportKind"]) === "type";
  const specifiers = (node["specifiers"] ?? []) as readonly Node[];
  return !isType(node) && !(specifiers.length > 0 && specifiers.every(isType));
}

/** Groups of files that load each other, also through imports at run time. */
function cyclesIn(imports: readonly Import[]): string[] {
  const loaded = new Map<string, Set<string>>();
  for (const { file, specifier, loads } of imports) {
    const target = specifier.startsWith(".") && loads ? join(dirname(file), specifier).split(sep).join("/") : undefined;
    if (target === undefined || target === file) continue;
    if (!loaded.has(file)) loaded.set(file, new Set());
    loaded.get(file)!.add(target);
  }
  const reached = new Map([...loaded.keys()].map((file) => [file, reachedFrom(file, loaded)]));
  const cycles = [...reached].map(([file, all]) => [...all].filter((each) => reached.get(each)?.has(file)).sort());
  return [...new Set(cycles.filter(({ length }) => length > 0).map((files) => files.join(" ")))];
}

function reachedFrom(file: string, loaded: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  for (const waiting = [file]; waiting.length > 0;) {
    for (const next of loaded.get(waiting.pop()!) ?? []) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return reached;
}

function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node["type"] === "TSLiteralType") return textOf(node["literal"]);
  return typeof node["value"] === "string" ? node["value"] : undefined;
}

function visit(node: unknown, enter: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, enter);
  else if (isNode(node)) {
    if (typeof node["type"] === "string") enter(node);
    for (const value of Object.values(node)) visit(value, enter);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
