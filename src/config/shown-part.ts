/** A part of a config for the trust prompt: complete, with what acts first, and without misleading characters. */
import { canonicalJson } from "../lib/canonical-json.ts";
import { visibleText } from "../lib/visible-text.ts";
import { isAddress, maskUrls } from "./mask-urls.ts";
import type { KeyPath } from "./problem.ts";
import { dots, isPlainObject, parseReferences } from "./references.ts";
import { isSecretOption } from "./masked-config.ts";

/** Shown first, in this order: what runs, what is contacted, and what a program receives. */
const acting = ["command", "args", "url", "env"];

/** One option per line, nothing cut. */
export function shownPart(written: unknown): readonly string[] {
  if (!isPlainObject(written)) return [visibleText(canonicalJson(masked(written, [])))];
  return Object.keys(written)
    .toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1))
    .map((key) => visibleText(`${nameOf(key)}: ${canonicalJson(masked(written[key], [key]))}`));
}

function rank(key: string): number {
  return acting.includes(key) ? acting.indexOf(key) : acting.length;
}

function nameOf(key: string): string {
  return /^[\w$-]+$/.test(key) ? key : JSON.stringify(key);
}

function masked(value: unknown, path: KeyPath): unknown {
  if (typeof value === "string") return maskedText(value, path);
  if (Array.isArray(value)) return value.map((each, index) => masked(each, [...path, index]));
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, masked(each, [...path, key])]));
}

/** Masking a piece of a command could hide harm: there, only text that no shell interprets is masked. */
const harmless = /^[\w~+=-]+$/;
const harmlessInUrl = /^[\w.~%+=:-]+$/;
const speaksOfSecret = /token|secret|passw|api_?key|credential/i;

function maskedText(text: string, path: KeyPath): string {
  const [option] = path;
  if (option === "env" && speaksOfSecret.test(String(path.at(-1))) && harmless.test(text)) return dots;
  if (isSecretOption(path) && option !== "env") return maskedPieces(text);
  if (isAddress(path)) return maskUrls(text, { isAddress: true, mask: maskedPieces });
  return maskUrls(text, { mask: (secret) => (harmlessInUrl.test(secret) ? dots : secret) });
}

/** Keeps references, which only name where a secret comes from. */
function maskedPieces(text: string): string {
  const { pieces } = parseReferences(text);
  if (pieces.every((piece) => typeof piece === "string")) return dots;
  return pieces
    .map((piece) => {
      if (typeof piece === "string") return dots;
      const { kind, name, instead } = piece;
      return `\${${kind}:${name}${instead === undefined ? "" : `:-${dots}`}}`;
    })
    .join("");
}
