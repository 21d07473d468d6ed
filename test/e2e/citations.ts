/** Which requirements a test file names: in the titles of its tests, or in a `covers` call. Nothing else counts. */
import { parseAst } from "rolldown/parseAst";

const citation = /\b(?:S3|LEG|MOD|SKL)-\d+\b/g;
const naming = new Set(["describe", "it", "test", "scenario", "covers"]);

export function citedIn(source: string): string[] {
  const cited = new Set<string>();
  walk(parseAst(source, { lang: "ts" }), (node) => {
    if (node["type"] !== "CallExpression" || !names(node["callee"])) return;
    for (const argument of listOf(node["arguments"]))
      for (const text of textsOf(argument)) for (const [id] of text.matchAll(citation)) cited.add(id);
  });
  return [...cited];
}

type Node = Readonly<Record<string, unknown>>;

/** `it`, `it.each(…)`, `describe.for(…)`; a skipped test holds nobody to anything. */
function names(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee["type"] === "Identifier") return naming.has(String(callee["name"]));
  if (callee["type"] === "CallExpression") return names(callee["callee"]);
  if (callee["type"] !== "MemberExpression" || !isNode(callee["property"])) return false;
  const property = String(callee["property"]["name"]);
  return property !== "skip" && property !== "todo" && names(callee["object"]);
}

function textsOf(argument: unknown): string[] {
  if (!isNode(argument)) return [];
  if (argument["type"] === "Literal") return typeof argument["value"] === "string" ? [argument["value"]] : [];
  if (argument["type"] === "ArrayExpression") return listOf(argument["elements"]).flatMap(textsOf);
  if (argument["type"] !== "TemplateLiteral") return [];
  return listOf(argument["quasis"]).map((quasi) =>
    isNode(quasi) && isNode(quasi["value"]) ? String(quasi["value"]["raw"]) : "",
  );
}

function walk(node: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(node)) for (const child of node) walk(child, visit);
  if (!isNode(node)) return;
  visit(node);
  for (const child of Object.values(node)) if (typeof child === "object") walk(child, visit);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
