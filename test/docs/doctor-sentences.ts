/** Collects from the code what `pressmark doctor` can print about a problem. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseAst } from "rolldown/parseAst";

type Node = Readonly<Record<string, unknown>>;

/** Where the sentences of doctor are written. */
const files = ["src/server/examine*.ts", "src/config/hosts/connection.ts", "src/search/index-problem.ts"];
/** Functions whose first argument is a sentence. */
const sayers = new Set(["hint", "broken", "foreign"]);

/** Each with `…` for the parts that are known only when it is printed. Results without a problem are left out. */
export function doctorSentences(root: string): ReadonlySet<string> {
  const sentences = new Set<string>();
  for (const file of globSync(files, { cwd: root }))
    if (!file.endsWith(".test.ts"))
      collect(parseAst(readFileSync(join(root, file), "utf8"), { lang: "ts" }), sentences);
  return sentences;
}

function collect(node: unknown, sentences: Set<string>): void {
  if (Array.isArray(node)) return node.forEach((each) => collect(each, sentences));
  if (!isNode(node)) return;
  for (const said of saidBy(node)) {
    const sentence = sentenceOf(said);
    if (sentence !== undefined && /\p{L}{2}/u.test(sentence)) sentences.add(sentence);
  }
  for (const child of Object.values(node)) collect(child, sentences);
}

/** The expressions that are a sentence about a problem. */
function saidBy(node: Node): readonly unknown[] {
  if (node["type"] === "CallExpression" && sayers.has(String((node["callee"] as Node)["name"])))
    return (node["arguments"] as readonly unknown[]).slice(0, 1);
  if (node["type"] === "VariableDeclarator" && (node["id"] as Node)["name"] === "sentences")
    return propertiesOf(node["init"]).map(({ value }) => value);
  if (node["type"] !== "ObjectExpression") return [];
  const properties = propertiesOf(node);
  const isFine = properties.some(({ name, value }) => name === "state" && (value as Node)["value"] === "ok");
  return isFine ? [] : properties.filter(({ name }) => name === "says").map(({ value }) => value);
}

function propertiesOf(node: unknown): readonly { readonly name: string; readonly value: unknown }[] {
  return ((node as Node)["properties"] as readonly Node[])
    .filter(({ type }) => type === "Property")
    .map(({ key, value }) => ({ name: String((key as Node)["name"] ?? (key as Node)["value"]), value }));
}

function sentenceOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node["type"] === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node["type"] !== "TemplateLiteral") return undefined;
  const texts = (node["quasis"] as readonly Node[]).map(
    (quasi) => (quasi["value"] as { readonly cooked: string }).cooked,
  );
  return texts.join("…");
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
