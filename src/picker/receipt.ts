/** Parses the receipt that the server's gathering tool returns. */
import type { ToolSaid } from "../client/tool-fallback.ts";
import { nameIn } from "../client/tree-of.ts";
import type { Resource } from "../resources.ts";

export interface ReceiptView {
  readonly budget: number;
  readonly tokens: number;
  /** Name of the tokenizer. */
  readonly counter: string;
  /** Share of the searchable content that was searched, from 0 to 1. */
  readonly ready: number;
  readonly included: readonly ReceiptIncluded[];
  readonly leftOut: readonly ReceiptLeftOut[];
  readonly moreLeftOut: number;
}

export interface ReceiptIncluded {
  readonly resource: Resource;
  /** As in `10-40`. */
  readonly lines: string;
  readonly tokens: number;
  readonly why: readonly string[];
  /** Other URIs with the same text. */
  readonly also: readonly string[];
  readonly masked: number;
  readonly removed: number;
}

export interface ReceiptLeftOut {
  readonly resource: Resource;
  readonly why: string;
}

type Loose = Readonly<Record<string, unknown>>;

/** Undefined if it is not a receipt. */
export function toReceipt({ structured, links }: ToolSaid): ReceiptView | undefined {
  if (!structured || !Array.isArray(structured["included"])) return undefined;
  const known = new Map(links.map((link) => [link.uri, link]));
  const resourceOf = (uri: string): Resource => known.get(uri) ?? { uri, name: nameIn(uri) };
  return {
    budget: number(structured["budget"]),
    tokens: number(structured["tokens"]),
    counter: text(structured["counter"]),
    ready: typeof structured["ready"] === "number" ? structured["ready"] : 1,
    included: records(structured["included"]).map((item) => ({
      resource: resourceOf(text(item["uri"])),
      lines: text(item["lines"]),
      tokens: number(item["tokens"]),
      why: texts(item["why"]),
      also: texts(item["also"]),
      masked: number(item["masked"]),
      removed: number(item["removed"]),
    })),
    leftOut: records(structured["leftOut"]).map((item) => ({
      resource: resourceOf(text(item["uri"])),
      why: text(item["why"]),
    })),
    moreLeftOut: number(structured["moreLeftOut"]),
  };
}

function records(value: unknown): readonly Loose[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
