/** What a person has chosen, in their order, and what it costs. */
import type { Resource } from "../resources.ts";

export interface Chosen {
  readonly resource: Resource;
  /** Undefined until it is counted; "none" for what has no text, or cannot be read. */
  readonly tokens?: number | "none";
}

export type Tray = readonly Chosen[];

export function has(tray: Tray, uri: string): boolean {
  return tray.some(({ resource }) => resource.uri === uri);
}

export function toggled(tray: Tray, resource: Resource): Tray {
  return has(tray, resource.uri) ? without(tray, resource.uri) : [...tray, { resource }];
}

export function without(tray: Tray, uri: string): Tray {
  return tray.filter(({ resource }) => resource.uri !== uri);
}

export function counted(tray: Tray, uri: string, tokens: number | "none"): Tray {
  return tray.map((chosen) => (chosen.resource.uri === uri ? { ...chosen, tokens } : chosen));
}

/** One place up (-1) or down (1); at the end it stays. */
export function shifted(tray: Tray, uri: string, by: -1 | 1): Tray {
  const from = tray.findIndex(({ resource }) => resource.uri === uri);
  const [chosen, other] = [tray[from], tray[from + by]];
  if (!chosen || !other) return tray;
  return tray.with(from, other).with(from + by, chosen);
}

export function total(tray: Tray): number {
  return tray.reduce((sum, { tokens }) => sum + (typeof tokens === "number" ? tokens : 0), 0);
}

/** An estimate: four letters of the alphabet, or one of most other scripts. */
export function roughTokens(text: string): number {
  let dense = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) >= 0x80) dense += 1;
  return Math.ceil((text.length - dense) / 4 + dense * 1.1);
}

export interface Read {
  readonly resource: Resource;
  readonly text: string;
}

/** Each under its name and URI, in a fence that nothing in it can close. */
export function asMarkdown(all: readonly Read[]): string {
  return all
    .map(({ resource: { name, uri, mimeType }, text }) => {
      const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
      const fence = "`".repeat(longest + 1);
      const language = mimeType === "text/markdown" ? "markdown" : "";
      return `## ${name.replaceAll(/\s+/g, " ")}\n\n<${uri}>\n\n${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}\n`;
    })
    .join("\n");
}
