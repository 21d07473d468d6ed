/** Parses the line-based formats: dotenv, INI and properties. */
import { createLeaves, FormatError, type ConfigValue } from "./leaf.ts";

/** If a name occurs twice, the last value applies. */
function lastOfEach(leaves: readonly ConfigValue[]): readonly ConfigValue[] {
  return [...new Map(leaves.map((leaf) => [JSON.stringify(leaf.path), leaf])).values()];
}

const dotenvName = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/;
/** For INI: a longer text is not a name. */
const maxName = 500;
const pemStart = /^["']?-----BEGIN [A-Z0-9 ]{1,80}-----/;
const pemEnd = /-----END [A-Z0-9 ]{1,80}-----/;

/** A PEM key pasted into a value: otherwise its lines would be parsed as names. Undefined if the key is not closed. */
function restOfKey(first: string, lines: readonly string[], from: number): readonly string[] | undefined {
  if (pemEnd.test(first)) return [];
  for (let at = from; at < lines.length; at += 1) if (pemEnd.test(lines[at]!)) return lines.slice(from, at + 1);
  return undefined;
}

/** `export NAME=value`, with any quotes, over several lines; references to other names are not expanded. */
export function parseDotenv(text: string): readonly ConfigValue[] {
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  const leaves = createLeaves();
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    if (/^[ \t]*(?:#|$)/.test(line)) continue;
    const begun = at + 1;
    const found = dotenvName.exec(line);
    if (!found) throw new FormatError(begun, 'it is neither "NAME=value" nor a comment');
    const name = found[1] as string;
    const rest = line.slice(found[0].length);
    const quote = rest[0];
    if (quote === '"' || quote === "'" || quote === "`") {
      const pieces = [rest.slice(1)];
      let end = closing(pieces[0] as string, quote);
      while (end < 0) {
        at += 1;
        if (at >= lines.length) throw new FormatError(begun, "a quoted value is not closed");
        const piece = lines[at] as string;
        end = closing(piece, quote);
        pieces.push(piece);
      }
      const value = [...pieces.slice(0, -1), (pieces.at(-1) as string).slice(0, end)].join("\n");
      leaves.add([name], quote === '"' ? unescape(value) : value, begun);
    } else if (pemStart.test(rest)) {
      const more = restOfKey(rest, lines, at + 1);
      if (!more) throw new FormatError(begun, "a PEM key is not closed");
      at += more.length;
      leaves.add([name], [rest, ...more].join("\n"), begun);
    } else leaves.add([name], before(rest, rest.search(/(?:^|[ \t])#/)).trim(), begun);
  }
  return lastOfEach(leaves.all);
}

/** The text before `at`; all of it for -1. */
function before(text: string, at: number): string {
  return at < 0 ? text : text.slice(0, at);
}

/** The position of the closing quote on this line, or -1. */
function closing(text: string, quote: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === "\\" && quote === '"') at += 1;
    else if (text[at] === quote) return at;
  }
  return -1;
}

function unescape(text: string): string {
  return text.replaceAll(/\\([nrt"\\])/g, (_, letter: string) => {
    const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
    return escapes[letter] ?? letter;
  });
}

/** Sections in brackets, `name = value` or `name: value`; an indented line that is not such a pair continues the value before. */
export function parseIni(text: string): readonly ConfigValue[] {
  const leaves = createLeaves();
  let section: readonly string[] = [];
  let open: { path: readonly string[]; value: string; line: number; indent: number } | undefined;
  const close = (): void => {
    if (open) leaves.add(open.path, unquoted(open.value), open.line);
    open = undefined;
  };
  const lines = text.split("\n").map((line) => line.trimEnd());
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    const number = at + 1;
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    const body = line.slice(indent);
    if (body === "" || /^[;#]/.test(body)) continue;
    const header = /^\[([^\]]{0,500})\][ \t]*(?:[;#].*)?$/.exec(body);
    if (header) {
      close();
      section = sectionOf((header[1] as string).trim());
      continue;
    }
    // Indented deeper than its name: a continued value, whatever it looks like.
    if (open && indent > open.indent) {
      open.value += `\n${body}`;
      continue;
    }
    const sign = body.search(/[=:[\]]/);
    const isPair = sign > 0 && sign <= maxName && (body[sign] === "=" || body[sign] === ":");
    if (!isPair && !/^[\w.-]{1,200}$/.test(body))
      throw new FormatError(number, 'it is neither "name = value" nor a section');
    close();
    if (!isPair) {
      leaves.add([...section, body], true, number);
      continue;
    }
    const value = body.slice(sign + 1).trimStart();
    const more = pemStart.test(value) ? restOfKey(value, lines, at + 1) : [];
    if (!more) throw new FormatError(number, "a PEM key is not closed");
    at += more.length;
    open = { path: [...section, body.slice(0, sign).trim()], value: [value, ...more].join("\n"), line: number, indent };
  }
  close();
  return lastOfEach(leaves.all);
}

/** `remote "origin"` is two nested sections. */
function sectionOf(name: string): readonly string[] {
  const found = /^(\S+)[ \t]+"(.*)"$/.exec(name);
  return found ? [found[1] as string, found[2] as string] : name.split(".");
}

function unquoted(value: string): string {
  const found = /^(["'])([\s\S]*)\1$/.exec(value);
  if (found) return found[2] as string;
  // A comment after the value ends with its last line.
  const last = value.lastIndexOf("\n") + 1;
  const comment = value.slice(last).search(/[ \t][;#]/);
  return before(value, comment < 0 ? -1 : last + comment).trim();
}

/** As Java reads them. */
export function parseProperties(text: string): readonly ConfigValue[] {
  const leaves = createLeaves();
  const lines = text.split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length; at += 1) {
    const begun = at + 1;
    const first = (lines[at] as string).trimStart();
    if (first === "" || first.startsWith("#") || first.startsWith("!")) continue;
    const pieces = [first];
    while (goesOn(pieces.at(-1) as string)) {
      pieces.push((pieces.pop() as string).slice(0, -1));
      at += 1;
      if (at >= lines.length) break;
      pieces.push((lines[at] as string).trimStart());
    }
    const line = pieces.join("");
    const found = /^((?:[^\\=: \t\f]|\\.)+)(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+|$)/.exec(line);
    if (!found) throw new FormatError(begun, "the value has no name");
    const name = decode(found[1] as string, begun);
    const value = decode(line.slice(found[0].length), begun);
    const more = pemStart.test(value) ? restOfKey(value, lines, at + 1) : [];
    if (!more) throw new FormatError(begun, "a PEM key is not closed");
    at += more.length;
    leaves.add(name.split("."), [value, ...more].join("\n"), begun);
  }
  return lastOfEach(leaves.all);
}

/** Whether it ends in a backslash that is not itself escaped. */
function goesOn(line: string): boolean {
  let count = 0;
  while (line[line.length - 1 - count] === "\\") count += 1;
  return count % 2 === 1;
}

function decode(text: string, line: number): string {
  return text.replaceAll(/\\(u[0-9A-Fa-f]{0,4}|.)/gs, (_, escape: string) => {
    if (escape.startsWith("u")) {
      if (escape.length < 5) throw new FormatError(line, "an escape needs four digits");
      return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    }
    const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f" };
    return escapes[escape] ?? escape;
  });
}
