/** The part of PromQL that must be understood here: quoting, label names, and completion. */
import { invalid, quote } from "../../errors.ts";

/** A PromQL string literal. */
export function quotedParts(text: string): string {
  return `"${text.replaceAll(/["\\\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`))}"`;
}

/** A label name for a grouping. Names on newer servers may contain anything, and are quoted. */
export function formatLabel(label: string): string {
  return /^[A-Za-z_]\w*$/.test(label) ? label : quotedParts(label);
}

type Token =
  | { readonly kind: "word" | "sign" | "number"; readonly text: string; readonly end: number }
  | { readonly kind: "text"; readonly text: string; readonly end: number; readonly isEscaped: boolean };

const maxLength = 8000;
const grouping = new Set(["by", "without", "on", "ignoring", "group_left", "group_right"]);
const matching = new Set(["=", "!=", "=~", "!~"]);
const closing: Readonly<Record<string, string>> = { "(": ")", "{": "}", "[": "]" };
/** String arguments that are not label names. */
const plainTexts: Readonly<Record<string, readonly number[]>> = { label_replace: [2, 4], label_join: [2] };

/** One token at the current position. */
const shape =
  /\s+|#[^\n]*|(?<word>[\p{L}_:][\p{L}\p{N}_:.]*)|(?<number>\d[\p{L}\p{N}_.]*|\.\d[\p{L}\p{N}_]*)|"(?<double>(?:[^"\\\n]|\\[^\n])*)"|'(?<single>(?:[^'\\\n]|\\[^\n])*)'|`(?<raw>[^`]*)`|(?<sign>=~|!~|!=|==|>=|<=|[=<>+\-*/%^(){}[\],@:])/uy;

/** The tokens up to the first position that cannot be parsed. */
function tokensOf(text: string): { readonly tokens: readonly Token[]; readonly end: number } {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    shape.lastIndex = at;
    const found = shape.exec(text);
    if (!found) break;
    at = shape.lastIndex;
    const { word, number, double, single, raw, sign } = found.groups ?? {};
    const quotedText = double ?? single;
    if (word !== undefined) tokens.push({ kind: "word", text: word, end: at });
    else if (number !== undefined) tokens.push({ kind: "number", text: number, end: at });
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign, end: at });
    else if (quotedText !== undefined)
      tokens.push({ kind: "text", text: quotedText, end: at, isEscaped: quotedText.includes("\\") });
    else if (raw !== undefined) tokens.push({ kind: "text", text: raw, end: at, isEscaped: false });
  }
  return { tokens, end: at };
}

interface Frame {
  readonly open: string;
  /** The word before the bracket. */
  readonly name: string;
  argument: number;
  readonly labels: string[];
}

/**
 * Calls back with every label name in the query, in any notation, and with the labels of a function that may copy one to another. Throws
 * "invalid" if the query cannot be parsed or a name is hidden by escapes: what is not understood is not sent.
 */
export function eachLabel(
  promql: string,
  named: (label: string) => void,
  together: (labels: readonly string[]) => void = () => undefined,
): void {
  if (promql.trim() === "") throw invalid("missing query: promql=…");
  if (promql.length > maxLength) throw invalid(`a PromQL query has at most ${maxLength} characters`);
  const { tokens, end } = tokensOf(promql);
  if (end < promql.length)
    throw invalid(
      `${quote(promql.slice(end, end + 20))} at character ${end + 1} is not valid PromQL, or is not closed`,
    );
  const frames: Frame[] = [];
  for (const [index, token] of tokens.entries()) {
    const frame = frames.at(-1);
    const before = tokens[index - 1];
    if (token.kind === "sign") {
      if (closing[token.text]) {
        const name = before?.kind === "word" ? before.text : "";
        frames.push({ open: token.text, name, argument: 0, labels: [] });
      } else if (token.text === ")" || token.text === "}" || token.text === "]") {
        if (!frame || closing[frame.open] !== token.text) throw invalid(`unmatched ${quote(token.text)}`);
        frames.pop();
        if (frame.open === "(" && !grouping.has(frame.name.toLowerCase())) together(frame.labels);
      } else if (token.text === "," && frame) frame.argument += 1;
      continue;
    }
    if (token.kind === "number" || !frame) continue;
    const next = tokens[index + 1];
    if (isLabel(token, frame, before, next)) {
      if (token.kind === "text" && token.isEscaped) throw invalid("write the names of labels without a backslash");
      // Some servers concatenate strings, which could build a name.
      if (token.kind === "text" && (isPlus(before) || isPlus(next))) throw invalid("write each text in one piece");
      named(token.text);
      frame.labels.push(token.text);
    }
  }
  if (frames.length > 0) throw invalid(`unclosed ${quote(frames.at(-1)!.open)}`);
}

function isPlus(token: Token | undefined): boolean {
  return token?.kind === "sign" && token.text === "+";
}

function isLabel(token: Token, frame: Frame, before: Token | undefined, next: Token | undefined): boolean {
  const isBehindMatch = before?.kind === "sign" && matching.has(before.text);
  if (frame.open === "{") {
    if (isBehindMatch && token.kind === "text") return false;
    // Besides labels, braces may hold a quoted metric name, and the "or" of some servers.
    if (next?.kind === "sign" && matching.has(next.text)) return true;
    return token.kind === "word" && token.text.toLowerCase() !== "or";
  }
  if (frame.open !== "(") return false;
  if (grouping.has(frame.name.toLowerCase())) return true;
  return token.kind === "text" && !plainTexts[frame.name]?.includes(frame.argument);
}

/** The incomplete token at the end of a query. */
type Typed =
  | { readonly wants: "metric"; readonly typed: string; readonly start: number }
  | { readonly wants: "label"; readonly typed: string; readonly start: number; readonly metric: string }
  | {
      readonly wants: "value";
      readonly typed: string;
      readonly start: number;
      readonly metric: string;
      readonly label: string;
    };

/** Undefined if nothing useful can be suggested. */
export function typedAt(promql: string): Typed | undefined {
  if (promql.length > maxLength) return undefined;
  // Only a value with an open quote may be unparsed.
  const { tokens, end } = tokensOf(promql);
  const rest = promql.slice(end);
  const opened = rest.startsWith('"') && !rest.includes("\\") ? rest.slice(1) : undefined;
  if (rest !== "" && opened === undefined) return undefined;
  const last = tokens.at(-1);
  const isWord = opened === undefined && last?.kind === "word" && last.end === promql.length;
  const settled = isWord ? tokens.slice(0, -1) : tokens;
  const typed = opened ?? (isWord ? last.text : "");
  const start = promql.length - typed.length;
  const before = settled.at(-1);
  const { frame, metric } = innermost(settled);
  if (frame?.open === "{") {
    const label = settled.at(-2);
    if (before?.kind === "sign" && matching.has(before.text))
      return opened !== undefined && label?.kind === "word"
        ? { wants: "value", typed, start, metric, label: label.text }
        : undefined;
    return opened === undefined && before?.kind === "sign" && (before.text === "{" || before.text === ",")
      ? { wants: "label", typed, start, metric }
      : undefined;
  }
  if (opened !== undefined) return undefined;
  if (frame && grouping.has(frame.name.toLowerCase())) return { wants: "label", typed, start, metric: "" };
  // No new token starts right after a name or number.
  if (before && (before.kind !== "sign" || before.text === ")" || before.text === "}" || before.text === "]"))
    return undefined;
  return { wants: "metric", typed, start };
}

function innermost(tokens: readonly Token[]): { readonly frame: Frame | undefined; readonly metric: string } {
  const frames: Frame[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== "sign") continue;
    const before = tokens[index - 1];
    if (closing[token.text])
      frames.push({ open: token.text, name: before?.kind === "word" ? before.text : "", argument: 0, labels: [] });
    else if (token.text === ")" || token.text === "}" || token.text === "]") frames.pop();
  }
  const frame = frames.at(-1);
  return { frame, metric: frame?.open === "{" ? frame.name : "" };
}
