/** Recognizes the first line of a definition in code, by language. Compared with tree-sitter in docs/decisions/036-definitions.md. */
import { inAnyScript } from "./any-script.ts";
import type { CodeFormat } from "./format.ts";
import { signatureIn } from "./signatures.ts";

/**
 * - `type`: has members, which are definitions too.
 * - `group`: each of its lines is a definition.
 * - `function`: of what it contains, only functions and types are definitions.
 * - `value`: a constant, a macro.
 */
export type DefinitionKind = "type" | "group" | "function" | "value";

export interface Definition {
  readonly kind: DefinitionKind;
  /** As shown in headings; "" if it has no name. */
  readonly title: string;
  /** Absent if the name is defined elsewhere, as that of a Rust `impl` block. */
  readonly name?: string;
}

interface CodeLine {
  /** Without white space around it, and without annotations before it. */
  readonly code: string;
  /** The text from the first character of `code`; what follows the line is needed for signatures of several lines. */
  readonly text: string;
  readonly at: number;
  readonly indent: number;
  /** The innermost definition that contains the line. */
  readonly within: Definition | undefined;
}

export function definitionIn(format: CodeFormat, line: CodeLine): Definition | undefined {
  for (const rule of rules[format]) {
    const found = rule(line);
    if (found) return found;
  }
  return undefined;
}

type Rule = (line: CodeLine) => Definition | undefined;

/** The first group that matched is the name. `\w` stands for letters of every script. */
function match(kind: DefinitionKind, pattern: RegExp, isAllowed: (line: CodeLine) => boolean = () => true): Rule {
  const inScripts = inAnyScript(pattern);
  return (line) => {
    if (!isAllowed(line)) return undefined;
    const groups = inScripts().exec(line.code);
    const name = groups?.slice(1).find((group) => group !== undefined);
    return name === undefined ? undefined : { kind, title: name, name };
  };
}

/** Contains members of a type that is defined elsewhere. */
function scope(pattern: RegExp): Rule {
  const inScripts = inAnyScript(pattern);
  return ({ code }) => {
    const groups = inScripts().exec(code);
    return groups ? { kind: "type", title: groups.slice(1).find(Boolean) ?? "" } : undefined;
  };
}

const isOutsideFunctions = ({ within }: CodeLine): boolean => within?.kind !== "function";
const isAtTop = ({ indent }: CodeLine): boolean => indent === 0;
const isInType = ({ within }: CodeLine): boolean => within?.kind === "type";

const functionValue = inAnyScript(/^(?:async\s*)?(?:function\b|[\w$]+\s*=>)/);

/** Of a value that is bound to a name: true if it is a function. */
function isFunctionBound({ code, text, at }: CodeLine, from: number): boolean {
  const value = code.slice(from);
  if (functionValue().test(value)) return true;
  const open = code.indexOf("(", from);
  if (open === -1 || !/^(?:async\s*)?(?:<[^()]{1,80}>)?\(/.test(value)) return false;
  return /^(?:=>|:[^;]{0,120}=>)/.test(signatureIn.after(text, at + open));
}

const declaration = inAnyScript(/^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:const|let|var)\s+([\w$]+)/);
const assignment = inAnyScript(/^(?:[\w$]+\.){1,4}([\w$]+)(?=\s*=)/);
const member = inAnyScript(
  /^(?:(?:public|private|protected|static|override|readonly)\s+)*(#?[\w$]+\??)(?=\s*[=:][^=])/,
);

const bound: Rule = (line) => {
  const declared = declaration().exec(line.code);
  const [start, name] = declared ??
    assignment().exec(line.code) ??
    (isInType(line) ? member().exec(line.code) : undefined) ?? [""];
  if (name === undefined) return undefined;
  const rest = line.code.slice(start.length);
  const value = /^\s*(?::[^=]{0,160})?=(?![=>])\s*/.exec(rest)?.[0] ?? (declared ? undefined : /^:\s*/.exec(rest)?.[0]);
  if (value !== undefined && isFunctionBound(line, start.length + value.length))
    return { kind: "function", title: name.replace("?", ""), name: name.replace("?", "") };
  return declared && line.indent === 0 ? { kind: "value", title: name, name } : undefined;
};

const methodStart = inAnyScript(
  /^(?:(?:public|private|protected|static|abstract|override|readonly|async|get|set|declare)\s+)*(?:\*\s*)?(#?[\w$]+|\[[\w$.]+\]|"[^"]{1,60}"|'[^']{1,60}')\??(?:<[^()]{1,120}>)?\s?\(/,
);

const method: Rule = ({ code, text, at, indent, within }) => {
  const start = methodStart().exec(code);
  if (!start || /^(?:if|for|while|switch|catch|return|with)$/.test(start[1]!)) return undefined;
  if (signatureIn.isStatement(start[1]!) && within?.kind !== "type") return undefined;
  const after = signatureIn.after(text, at + start[0].length - 1);
  // The class of a passage may be in an earlier one.
  const mayBeMember = within ? within.kind === "type" : indent > 0;
  const isMethod = after.startsWith("{") || (mayBeMember && /^(?::|;\s*$)/.test(after));
  const name = start[1]!.replaceAll(/["']/g, "");
  return isMethod ? { kind: "function", title: name, name } : undefined;
};

const typed =
  (isCpp: boolean): Rule =>
  ({ code, text, at, within }) => {
    const found = signatureIn.typed(code, text, at, within?.kind, within?.title, isCpp);
    return found && { kind: "function", ...found };
  };

const accessModifiers =
  "(?:(?:public|private|protected|internal|static|abstract|final|sealed|partial|readonly|unsafe|new|ref|strictfp|file|non-sealed)\\s+)*";

const rules: Readonly<Record<CodeFormat, readonly Rule[]>> = {
  script: [
    match("function", /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function(?:\s*\*\s*|\s+)([\w$]+)/),
    match(
      "type",
      /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:const\s+)?(?:class|interface|enum|namespace|module|global)\s+["']?([\w$@/.-]+)["']?(?=$|[\s<{])/,
    ),
    match("type", /^(?:export\s+)?(?:declare\s+)?type\s+([\w$]+)\s*(?:=|<|$)/),
    scope(/^(?:export\s+default|module\.exports\s*=).*[({[]$/),
    bound,
    method,
  ],
  python: [
    match("function", /^(?:async\s+)?def\s+(\w+)/),
    match("type", /^class\s+(\w+)/),
    match("value", /^type\s+(\w+)\s*[=[]/),
    match("value", /^((?!\d)\w+)(?:\s*:[^=]{1,120}|\s*)=(?!=)/, isAtTop),
  ],
  go: [
    match("function", /^func\s+(?:\([^()]{0,120}\)\s*)?(\w+)/),
    match("type", /^type\s+(\w+)/),
    ({ code }) => (/^(?:const|var|type)\s*\($/.test(code) ? { kind: "group", title: "" } : undefined),
    match("value", /^(?:var|const)\s+(\w+)/, isAtTop),
    match("type", /^(\w+)\s+(?:struct|interface)\s*\{/, ({ within }) => within?.kind === "group"),
    match("value", /^((?!\d)\w+)(?=\s|,|$)/, ({ within }) => within?.kind === "group"),
    match("function", /^(\w+)\(/, isInType),
  ],
  rust: [
    match(
      "function",
      /^(?:pub(?:\([^()]{1,60}\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+(?:"[^"]{0,20}"\s+)?)?fn\s+(\w+)/,
    ),
    match("type", /^(?:pub(?:\([^()]{1,60}\))?\s+)?(?:unsafe\s+)?(?:auto\s+)?(?:struct|enum|trait|union|mod)\s+(\w+)/),
    match("value", /^(?:pub(?:\([^()]{1,60}\))?\s+)?type\s+(\w+)/),
    match("function", /^macro_rules!\s*(\w+)/),
    scope(/^(?:unsafe\s+)?impl\b(?:.*\bfor\s+)?[^\w]{0,3}(?:<[^<>]{0,120}>\s*)?(?:\w+::)*(\w+)/),
    match("value", /^(?:pub(?:\([^()]{1,60}\))?\s+)?(?:const|static(?:\s+mut)?)\s+(\w+)\s*:/, isOutsideFunctions),
  ],
  java: [
    match("type", new RegExp(`^${accessModifiers}(?:class|interface|enum|record|@interface)\\s+(\\w+)`)),
    typed(false),
  ],
  c: [
    match("value", /^#\s*define\s+(\w+)/),
    match(
      "type",
      /^(?:typedef\s+)?(?:class|struct|union|enum(?:\s+class|\s+struct)?)\s+(?:[A-Z_]{3,40}\s+)?(?:\w+::)*(\w+)(?=\s*(?:$|\{|:(?!:)|final\b))/,
    ),
    ({ code }) => (/^typedef\s+(?:struct|union|enum)\s*\{?$/.test(code) ? { kind: "type", title: "" } : undefined),
    match("value", /^\}\s*(\w+);/, isInType),
    match("value", /^typedef\s[^;()]*\(\*\s?(\w+)\)/),
    match("value", /^typedef\s[^;()]*(?<!\w)(\w+)(?:\[\w*\])?;/),
    match("value", /^using\s+(\w+)\s*=/),
    match("type", /^concept\s+(\w+)\s*=/),
    scope(/^(?:inline\s+)?namespace\s+([\w:]+)|^extern\s+"C"\s*\{/),
    typed(true),
  ],
  csharp: [
    scope(/^namespace\s+([\w.]+)/),
    match(
      "type",
      new RegExp(`^${accessModifiers}(?:class|interface|enum|struct|record(?:\\s+(?:class|struct))?)\\s+(\\w+)`),
    ),
    match(
      "value",
      new RegExp(`^${accessModifiers}delegate\\s+[\\w<>[\\],.?\\s]{1,120}?(\\w+)\\s*(?:<[^()]{1,80}>)?\\(`),
    ),
    typed(false),
    ({ code, text, at, within }) => {
      const name = within?.kind === "type" ? signatureIn.property(code, text, at) : undefined;
      return name === undefined ? undefined : { kind: "function", title: name, name };
    },
  ],
  ruby: [
    match(
      "function",
      /^(?:(?:private|protected|public|module_function|private_class_method)\s+)?def\s+(?:[\w]+\.)?([\w]+[?!=]?|[^\s\w(]{1,3})/,
    ),
    scope(/^class\s*<<\s*(\w+)/),
    match("type", /^(?:class|module)\s+(?:\w+::)*(\w+)/),
    match("function", /^define_method[( ]+:(\w+[?!]?)/),
    match("value", /^(\p{Lu}\w*)\s*=(?![=~])/u, isOutsideFunctions),
  ],
  php: [
    match("function", /^(?:(?:public|private|protected|static|abstract|final)\s+)*function\s+(?:&\s*)?(\w+)/i),
    match("type", /^(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+(\w+)/i),
    match("value", /^(?:(?:public|private|protected|final)\s+)*const\s+(?:\??\w+\s+)?(\w+)\s*=/i, isOutsideFunctions),
    match("value", /^define\(\s*['"](\w+)['"]/),
  ],
  kotlin: [
    match("function", /^(?:[a-z]+\s+)*fun\s+(?:<[^()]{1,120}>\s*)?(?:[\w.<>?,* ]{0,120}\.)?(\w+|`[^`]{1,120}`)\s*\(/),
    match("type", /^(?:[a-z]+\s+)*(?:class|interface|object)\s+(\w+)/),
    match("type", /^fun\s+interface\s+(\w+)/),
    scope(/^(?:[a-z]+\s+)*(companion)\s+object\b/),
    match("value", /^(?:[a-z]+\s+)*typealias\s+(\w+)/),
    match("value", /^(?:[a-z]+\s+)*(?:val|var)\s+(?:<[^()]{1,80}>\s*)?(?:[\w<>?]{1,80}\.)?(\w+)/, isOutsideFunctions),
  ],
  swift: [
    match("function", /^(?:[a-z]+(?:\([a-z]+\))?\s+)*func\s+(\w+|`\w+`|[^\s\w(<]{1,4})/),
    match("type", /^(?:[a-z]+(?:\([a-z]+\))?\s+)*(?:class|struct|enum|protocol|actor)\s+(?!func\b|var\b|let\b)(\w+)/),
    scope(/^(?:[a-z]+\s+)*extension\s+([\w.]+)/),
    match(
      "function",
      /^(?:[a-z]+(?:\([a-z]+\))?\s+)*(init|deinit|subscript)\b\s*[?!]?(?=[(<{ ]|$)/,
      isOutsideFunctions,
    ),
    match("value", /^(?:[a-z]+(?:\([a-z]+\))?\s+)*(?:typealias|associatedtype)\s+(\w+)/),
    match("value", /^(?!guard|if|while|for|case)(?:[a-z]+(?:\([a-z]+\))?\s+)*(?:let|var)\s+(\w+)/, isOutsideFunctions),
  ],
  shell: [match("function", /^(?:function\s+([\w:.-]+)|([\w:.-]+)\s*\(\s*\))/)],
  sql: [
    ({ code }) => {
      const start =
        /^create\s+(?:(?:or\s+replace|global|local|temp|temporary|unlogged|unique|materialized|recursive|external|foreign|virtual|constraint|clustered|nonclustered|fulltext|event)\s+)*(?:table|view|function|procedure|index|trigger|type|schema|sequence|domain|role|user|database|extension|policy|aggregate|rule|server|macro|publication)\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?/i.exec(
          code,
        )?.[0];
      const name = start === undefined ? undefined : lastPart(code.slice(start.length));
      return name === undefined || /^on$/i.test(name) ? undefined : { kind: "value", title: name, name };
    },
    scope(/^alter\s+\w+\s+(?:if\s+exists\s+)?(?:only\s+)?["`[]?([\w.]+)/i),
  ],
  braces: [
    match(
      "type",
      /^(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|override|inline|sealed|open|const|declare|implicit|lazy|case)\s+)*(?:class|interface|type|enum|struct|trait|namespace|module|object|record|protocol|extension|union|message|service|contract|mixin|library)\s+([\w$]+)/,
    ),
    match(
      "function",
      /^(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|override|inline|pub)\s+)*(?:function\*?|fn|func|fun|def|rpc)\s+([\w$]+)/,
    ),
    bound,
    match("value", /^(?:let|var|const|val)\s+([\w$]+)/, isAtTop),
    method,
    typed(false),
  ],
  indents: [
    match("type", /^(?:class|module|defmodule)\s+(\w[\w.:]*?):?(?=$|[\s(<{;,=|])/),
    match(
      "function",
      /^(?:async\s+|local\s+)?(?:def|function|sub|defp|proc|func|macro|defmacro)\s+(\w[\w.:?!]*?):?(?=$|[\s(<{;,=|])/,
    ),
  ],
  statements: [
    match(
      "type",
      /^(?:function\s+([\w:-]+)|([\w:-]+)\s*\(\)\s*\{?$|(?:resource|module|variable|data|type|input|interface|enum)\s+"?([\w.-]+)|\((?:defun|defn|define|defmacro)\s+([^\s()]+)|([\w.-]+):(?:\s|$))/i,
    ),
  ],
};

const namePart = inAnyScript(/^(?:"([^"]{1,120})"|`([^`]{1,120})`|\[([^\]]{1,120})\]|([\w$]+))(\s*\.\s*)?/);

/** The last part of a name with a schema, without quotes. */
function lastPart(text: string): string | undefined {
  const part = namePart().exec(text);
  if (!part) return undefined;
  return part[5] === undefined ? part.slice(1, 5).find(Boolean) : lastPart(text.slice(part[0].length));
}
