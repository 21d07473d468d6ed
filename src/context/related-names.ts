/** Decides which names are related: a file and its test, a header and its body, a document and its translation. */

interface ParsedName {
  /** The common part of related names, in lowercase. */
  readonly root: string;
  readonly ending: string;
  readonly isTest: boolean;
  /** Language code in the name of a document, or "". */
  readonly language: string;
}

const testBefore = /^(?:test[_-]|spec[_-])/i;
const testBehind = /(?:[._-](?:tests?|specs?)|(?<=[a-z0-9])(?:Tests?|Spec|IT)|(?<=.)(?:テスト|試験))$/;
const documents = new Set(["md", "mdx", "markdown", "rst", "adoc", "txt", "html", "htm"]);
/** Written by tools from the other file, and of no use beside it. */
const generated = new Set(["lock", "lockb", "sum", "map"]);
const code = /[._-]([a-z]{2})(?:[-_](?:[a-z]{2}|[a-z]{4}))?$/i;
const languages = new Set(
  "ar bn cs da de el en es fa fi fr he hi hu id it ja ko nl no pl pt ro ru sv th tr uk vi zh".split(" "),
);

export function parseName(name: string): ParsedName {
  const dot = name.lastIndexOf(".");
  const ending = dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
  let root = dot > 0 ? name.slice(0, dot) : name;
  const isTest = testBefore.test(root) || testBehind.test(root);
  root = root.replace(testBefore, "").replace(testBehind, "");
  const found = documents.has(ending) ? code.exec(root) : null;
  const language = found && languages.has(found[1]!.toLowerCase()) ? found[1]!.toLowerCase() : "";
  if (language !== "") root = root.slice(0, found!.index);
  return { root: root.toLowerCase(), ending, isTest, language };
}

/** The relation of the second name to the first; undefined if there is none. */
export function kinship(one: string, other: string): "test" | "tested" | "translation" | "half" | undefined {
  const left = parseName(one);
  const right = parseName(other);
  if (one === other || left.root !== right.root || left.root === "") return undefined;
  if (left.isTest !== right.isTest) return right.isTest ? "test" : "tested";
  if (left.language !== right.language) return left.ending === right.ending ? "translation" : undefined;
  if (left.ending === right.ending || left.isTest) return undefined;
  return [left, right].some(({ ending }) => generated.has(ending)) || documents.has(left.ending) ? undefined : "half";
}

export function isLanguage(segment: string): boolean {
  return languages.has(segment.slice(0, 2).toLowerCase()) && /^[a-z]{2}(?:[-_][a-z]{2,4})?$/i.test(segment);
}
