/** Which room may import which. docs/house.md shows the same table to people. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";

const root = import.meta.dirname;

const core = ["resources", "source", "layer", "errors"];
const server = [
  "backends",
  "sources",
  "layers",
  "access",
  "watch",
  "search",
  "context",
  "router",
  "protocol",
  "transport",
  "client",
  "config",
];

/** A room may always import itself. The front door, `index.ts`, may open any. */
const accessPoints: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  core: ["lib"],
  backends: ["core", "lib"],
  sources: ["core", "lib", "backends"],
  layers: ["core", "lib"],
  access: ["core", "lib"],
  watch: ["core", "lib"],
  search: ["core", "lib"],
  context: ["core", "lib", "search"],
  router: ["core", "lib", "access", "watch", "search"],
  protocol: ["core", "lib", "context"],
  transport: ["core", "lib", "protocol"],
  client: ["core", "lib"],
  config: ["core", "lib", "backends", "sources", "layers", "access", "search"],
  server: ["core", "lib", ...server],
  cli: ["core", "lib", "server", "client", "config", "context"],
  picker: ["core", "lib", "client"],
  testing: ["core", "lib"],
  index: ["core", "lib", ...server, "server", "testing"],
};

/** What one file may do that its room may not. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // A remote house as a source.
  "sources/mcp.ts": ["client"],
  // Agreement is measured in the words that are searched.
  "sources/analysis/agreement.ts": ["search"],
};

/** Tests, and what only tests need: they may enter any room, and no room may enter them. */
const ofTests = /(?:\.test|(?:^|\/)test-[^/]*)\.tsx?$/;

/** These run in a browser, too. */
const withoutNode = ["client", "picker"];

interface Import {
  readonly file: string;
  readonly specifier: string;
}

describe("the rooms", () => {
  const files = readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((file) => file.split(sep).join("/"))
    .filter((file) => /\.tsx?$/.test(file) && !ofTests.test(file))
    .sort();
  const imports = files.flatMap((file) => importsOf(file));

  it("are all in the table", () => {
    expect(files.filter((file) => !(roomOf(file) in accessPoints))).toEqual([]);
  });

  it("are entered only through the doors of the table", () => {
    expect(imports.map(trespass).filter((sentence) => sentence !== undefined)).toEqual([]);
  });

  it("that a browser enters hold nothing of Node", () => {
    expect(
      imports
        .filter(({ file, specifier }) => withoutNode.includes(roomOf(file)) && specifier.startsWith("node:"))
        .map(({ file, specifier }) => `src/${file} imports ${specifier}, and ${roomOf(file)} must run without Node`),
    ).toEqual([]);
  });

  it("import nothing from tests", () => {
    expect(imports.filter(({ specifier }) => ofTests.test(specifier)).map(({ file }) => file)).toEqual([]);
  });

  it("would notice a forbidden door, however it is opened", () => {
    const opened = importsIn(
      "lib/example.ts",
      `import type { A } from "../errors.ts";
       export { b } from "../source.ts";
       const c: import("../layer.ts").Layer = await import("../router/route.ts");
       new Worker(new URL("../sources/file.ts", import.meta.url));
       import d from "./uri-template.ts";`,
    );
    expect(opened.map(trespass)).toEqual([
      "src/lib/example.ts imports src/errors.ts: lib may import nothing of ours, and core is not among it",
      "src/lib/example.ts imports src/source.ts: lib may import nothing of ours, and core is not among it",
      "src/lib/example.ts imports src/layer.ts: lib may import nothing of ours, and core is not among it",
      "src/lib/example.ts imports src/router/route.ts: lib may import nothing of ours, and router is not among it",
      "src/lib/example.ts imports src/sources/file.ts: lib may import nothing of ours, and sources is not among it",
      undefined,
    ]);
  });
});

describe("the sources", () => {
  it("are all named in their index", () => {
    const files = readdirSync(join(root, "sources")).filter(
      (file) => file.endsWith(".ts") && !file.endsWith(".test.ts") && file !== "index.ts",
    );
    const named = importsOf("sources/index.ts").map(({ specifier }) => specifier);
    expect(
      files.filter((file) => !named.includes(`./${file}`)).map((file) => `src/sources/index.ts lacks ${file}`),
    ).toEqual([]);
  });
});

function trespass({ file, specifier }: Import): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const target = relative(root, join(root, dirname(file), specifier))
    .split(sep)
    .join("/");
  const [from, to] = [roomOf(file), roomOf(target)];
  const open = [from, ...(accessPoints[from] ?? []), ...(exceptions[file] ?? [])];
  if (open.includes(to)) return undefined;
  const allowed = accessPoints[from]?.join(", ") || "nothing of ours";
  return `src/${file} imports src/${target}: ${from} may import ${allowed}, and ${to} is not among it`;
}

function roomOf(file: string): string {
  const [first = "", second] = file.split("/");
  if (second !== undefined) return first;
  const name = first.replace(/\.ts$/, "");
  return core.includes(name) ? "core" : name;
}

function importsOf(file: string): Import[] {
  return importsIn(file, readFileSync(join(root, file), "utf8"));
}

/** Static, dynamic and type imports, re-exports, and files that a worker is started from; in the order of the text. */
function importsIn(file: string, text: string): Import[] {
  const found: Import[] = [];
  visit(parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" }), (node) => {
    const specifier = specifierOf(node);
    if (specifier !== undefined) found.push({ file, specifier });
  });
  return found;
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

function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node["type"] === "TSLiteralType") return textOf(node["literal"]);
  return typeof node["value"] === "string" ? node["value"] : undefined;
}

function visit(node: unknown, see: (node: Node) => void): void {
  if (Array.isArray(node)) for (const each of node) visit(each, see);
  else if (isNode(node)) {
    if (typeof node["type"] === "string") see(node);
    for (const value of Object.values(node)) visit(value, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
