/** PromQL, as far as it must be understood here: what is quoted, which labels are named, and what is being typed. */
import { invalid, quote } from "../../errors.ts";

/** A text as PromQL writes it. */
export function quotedParts(text: string): string {
  return `"${text.replaceAll(/["\\\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`))}"`;
}

/** A label's name as it may stand in a grouping. Names of newer servers may hold anything, and are quoted. */
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
/** Arguments that are texts and no names of labels. */
const plainTexts: Readonly<Record<string, readonly number[]>> = { label_replace: [2, 4], label_join: [2] };

/** One pattern for one token, each tried at one place only. */
const shape =
  /\s+|#[^\n]*|(?<word>[\p{L}_:][\p{L}\p{N}_:.]*)|(?<number>\d[\p{L}\p{N}_.]*|\.\d[\p{L}\p{N}_]*)|"(?<double>(?:[^"\\\n]|\\[^\n])*)"|'(?<single>(?:[^'\\\n]|\\[^\n])*)'|`(?<raw>[^`]*)`|(?<sign>=~|!~|!=|==|>=|<=|[=<>+\-*/%^(){}[\],@:])/uy;

/** The tokens up to where it cannot be understood any further. */
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
  /** What stands before the bracket. */
  readonly name: string;
  argument: number;
  readonly labels: string[];
}

/**
 * Calls back with every name of a label in the question, however it is written there, and with those that one function is given, which may
 * copy one to another. Throws "invalid" where the question cannot be
 * understood, or where a name is written so that it cannot be told: what is not understood is not asked.
 */
export function eachLabel(
  promql: string,
  named: (label: string) => void,
  together: (labels: readonly string[]) => void = () => undefined,
): void {
  if (promql.trim() === "") throw invalid("say what to ask for: promql=…");
  if (promql.length > maxLength) throw invalid(`a question in PromQL has at most ${maxLength} characters`);
  const { tokens, end } = tokensOf(promql);
  if (end < promql.length)
    throw invalid(`${quote(promql.slice(end, end + 20))} at character ${end + 1} is no PromQL, or is not closed`);
  const frames: Frame[] = [];
  for (const [index, token] of tokens.entries()) {
    const frame = frames.at(-1);
    const before = tokens[index - 1];
    if (token.kind === "sign") {
      if (closing[token.text]) {
        const name = before?.kind === "word" ? before.text : "";
        frames.push({ open: token.text, name, argument: 0, labels: [] });
      } else if (token.text === ")" || token.text === "}" || token.text === "]") {
        if (!frame || closing[frame.open] !== token.text) throw invalid(`a ${quote(token.text)} closes nothing`);
        frames.pop();
        if (frame.open === "(" && !grouping.has(frame.name.toLowerCase())) together(frame.labels);
      } else if (token.text === "," && frame) frame.argument += 1;
      continue;
    }
    if (token.kind === "number" || !frame) continue;
    const next = tokens[index + 1];
    if (isLabel(token, frame, before, next)) {
      if (token.kind === "text" && token.isEscaped) throw invalid("write the names of labels without a backslash");
      // Some servers add texts to each other, and so a name could be put together.
      if (token.kind === "text" && (isPlus(before) || isPlus(next))) throw invalid("write each text in one piece");
      named(token.text);
      frame.labels.push(token.text);
    }
  }
  if (frames.length > 0) throw invalid(`a ${quote(frames.at(-1)!.open)} is not closed`);
}

function isPlus(token: Token | undefined): boolean {
  return token?.kind === "sign" && token.text === "+";
}

function isLabel(token: Token, frame: Frame, before: Token | undefined, next: Token | undefined): boolean {
  const isBehindMatch = before?.kind === "sign" && matching.has(before.text);
  if (frame.open === "{") {
    if (isBehindMatch && token.kind === "text") return false;
    // Beside labels, braces hold the name of a metric in quotes, and the "or" of some servers.
    if (next?.kind === "sign" && matching.has(next.text)) return true;
    return token.kind === "word" && token.text.toLowerCase() !== "or";
  }
  if (frame.open !== "(") return false;
  if (grouping.has(frame.name.toLowerCase())) return true;
  return token.kind === "text" && !plainTexts[frame.name]?.includes(frame.argument);
}

/** What stands at the end of a question that is being typed, and could be gone on with. */
export type Typed =
  | { readonly wants: "metric"; readonly typed: string; readonly start: number }
  | { readonly wants: "label"; readonly typed: string; readonly start: number; readonly metric: string }
  | {
      readonly wants: "value";
      readonly typed: string;
      readonly start: number;
      readonly metric: string;
      readonly label: string;
    };

/** Undefined where nothing sensible can be suggested. */
export function typedAt(promql: string): Typed | undefined {
  if (promql.length > maxLength) return undefined;
  // A value whose quote is still open is the only thing that may be left over.
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
  // Right behind a name or a number nothing new begins.
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
