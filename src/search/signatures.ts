/** Recognizes signatures without a keyword: `int main(void) {`, `Pool::close()`, `public int Size { get; }`. */
import { inAnyScript } from "./any-script.ts";
import type { DefinitionKind } from "./definitions.ts";

/** Maximum length of the parameters. */
const maxLength = 2000;

/** The beginning of what follows the parenthesis that closes the one at `open`, without white space before it; "" if that is far away. */
function after(text: string, open: number): string {
  const end = Math.min(text.length, open + maxLength);
  let depth = 0;
  for (let at = open; at < end; at += 1) {
    const character = text[at];
    if (character === "(") depth += 1;
    else if (character === '"' || character === "'") at = closing(text, at, character);
    else if (character === ")") {
      depth -= 1;
      if (depth === 0)
        return text
          .slice(at + 1, at + 200)
          .replace(/^\s*\/\/[^\n]*/, "")
          .trimStart();
    }
  }
  return "";
}

/** Position of the quote that closes the one at `open` on the same line, else `open`. */
function closing(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < open + 200 && at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === quote) return at;
    else if (character === "\n") return open;
  }
  return open;
}

const statements = new Set(
  (
    "if else for foreach while until switch catch return throw throws new await with using do match when try finally case goto delete " +
    "typedef yield assert lock fixed synchronized sizeof typeof super this function not and or elif unless import export from package in is as"
  ).split(" "),
);

function isStatement(word: string): boolean {
  return statements.has(word);
}

const macroName = inAnyScript(/^(?!\d)\w{2,41}\s?$/);
const macroRest = inAnyScript(/^\)[\w\s*]{1,80}$/);
const nameStart = inAnyScript(/^(?!\d)[\w*]/);
const functionName = inAnyScript(/^~?(?!\d)[\w$]+$/);
const interfaceName = inAnyScript(/\s[\w<>,.\s]{1,120}\.$/);
const typesBefore = inAnyScript(/^(?:[\w$<~:][\w\s<>,[\]*&:?.$~]*)?$/);
const firstWord = inAnyScript(/^\w*/);
const declarationRest = inAnyScript(/^(?:[;:=[]|->|(?!\d)\w)/);

/** A function with its types before its name. `kind` and `title` are those of the definition that contains it. */
function typed(
  code: string,
  text: string,
  at: number,
  kind: DefinitionKind | undefined,
  title: string | undefined,
  isCpp: boolean,
): { readonly title: string; readonly name: string } | undefined {
  let open = code.indexOf("(");
  if (open <= 0) return undefined;
  let rest = after(text, at + open);
  let first = 0;
  // A macro around the type: `API(int) parse(const char *text);`
  if (isCpp && kind !== "function" && macroName().test(code.slice(0, open)) && nameStart().test(rest)) {
    const typeEnd = code.indexOf(")", open);
    const next = code.indexOf("(", typeEnd);
    if (typeEnd !== -1 && next !== -1 && macroRest().test(code.slice(typeEnd, next))) {
      first = typeEnd + 1;
      open = next;
      rest = after(text, at + open);
    }
  }
  const head = withoutGenerics(code.slice(first, open).trimEnd());
  const start = startOfName(head);
  const before = (first > 0 ? "type " : "") + head.slice(0, start).trimEnd();
  const full = head.slice(start);
  const name = full.slice(full.lastIndexOf(":") + 1);
  if (!functionName().test(name)) return undefined;
  if (/^(?:__attribute__|static|public|private|protected|internal)$/.test(name)) return undefined;
  // An interface's name stands before that of a method that implements it: `void IDisposable.Dispose()`
  const types = kind === "type" ? before.replace(interfaceName(), "") : before;
  if (
    !typesBefore().test(types) ||
    /^:(?!:)|\b(?:operator|new)$|\b(?:throw|return|instanceof)\b/.test(types) ||
    /[.?,]$|(?<!:):$/.test(types)
  )
    return undefined;
  if (isStatement(types === "" ? name : firstWord().exec(types)![0])) return undefined;
  const hasBody = /^(?:\{|=>)/.test(rest);
  const found = { title: full, name };
  if (hasBody && types !== "") return found;
  if (kind === "function") return undefined;
  if (types !== "") return declarationRest().test(rest) ? found : undefined;
  // A constructor, or a type on the line before.
  if (name === title || name.startsWith("~")) return /^[{:;=a-z]/.test(rest) ? found : undefined;
  return isCpp && (hasBody ? kind === undefined : full.includes("::") && /^(?::|=|[a-z])/.test(rest))
    ? found
    : undefined;
}

/** Without type parameters at its end. */
function withoutGenerics(head: string): string {
  if (!head.endsWith(">")) return head;
  let depth = 0;
  for (let at = head.length - 1; at >= 0; at -= 1) {
    if (head[at] === ">") depth += 1;
    else if (head[at] === "<") depth -= 1;
    if (depth === 0) return head.slice(0, at).trimEnd();
  }
  return head;
}

/** Half a surrogate pair is part of a letter. */
const inName = inAnyScript(/[\w$~:\ud800-\udfff]/);

function startOfName(head: string): number {
  let at = head.length;
  while (at > 0 && inName().test(head[at - 1]!)) at -= 1;
  return at;
}

const accessors = inAnyScript(/^\w[\w<>,[\].?]{0,120}\s+(\w+)\s*\{\s*(?:get|set|init)\b/);
const propertyStart = inAnyScript(
  /^(?:public|private|protected|internal|static|override|virtual|abstract)\s[\w\s<>,[\].?]{1,160}?(?=\s*(?:\{|=>|$))/,
);
const word = inAnyScript(/^\w+$/);

/** `public int Size { get; }`, `public string Name => name;` */
function property(code: string, text: string, at: number): string | undefined {
  const declared = accessors().exec(code)?.[1];
  if (declared !== undefined) return declared;
  const start = propertyStart().exec(code)?.[0];
  if (start === undefined) return undefined;
  if (start.length === code.length && !/^\s*\{/.test(text.slice(at + start.length, at + start.length + 40)))
    return undefined;
  const words = start.split(/\s+/);
  return words.length < 3 ? undefined : word().exec(words.at(-1)!)?.[0];
}

export const signatureIn = { after, isStatement, typed, property };
