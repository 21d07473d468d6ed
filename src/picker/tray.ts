/** The chosen resources, in the person's order, and their cost. */
import type { Resource } from "../resources.ts";

export interface Chosen {
  readonly resource: Resource;
  /** Undefined until it is counted; "none" if it has no text, or cannot be read. */
  readonly tokens?: number | "none";
}

export type Tray = readonly Chosen[];

export function has(tray: Tray, uri: string): boolean {
  return tray.some(({ resource }) => resource.uri === uri);
}

/** The tokens of one chosen resource, if counted. */
export function trayTokens(tray: Tray, uri: string): Chosen["tokens"] {
  return tray.find(({ resource }) => resource.uri === uri)?.tokens;
}

export function toggled(tray: Tray, resource: Resource): Tray {
  return has(tray, resource.uri) ? without(tray, resource.uri) : [...tray, { resource }];
}

function without(tray: Tray, uri: string): Tray {
  return tray.filter(({ resource }) => resource.uri !== uri);
}

export function trayCounts(tray: Tray, uri: string, tokens: number | "none"): Tray {
  return tray.map((chosen) => (chosen.resource.uri === uri ? { ...chosen, tokens } : chosen));
}

/** Adds new ones at the end. */
export function withAll(tray: Tray, resources: readonly Resource[]): Tray {
  const known = new Set(tray.map(({ resource }) => resource.uri));
  const fresh = resources.filter(({ uri }) => !known.has(uri) && known.add(uri));
  return fresh.length === 0 ? tray : [...tray, ...fresh.map((resource) => ({ resource }))];
}

/** Moves to a position from 0. */
export function movedTo(tray: Tray, uri: string, to: number): Tray {
  const chosen = tray.find(({ resource }) => resource.uri === uri);
  if (!chosen) return tray;
  return without(tray, uri).toSpliced(Math.max(0, to), 0, chosen);
}

export function trayTotal(tray: Tray): number {
  return tray.reduce((sum, { tokens }) => sum + (typeof tokens === "number" ? tokens : 0), 0);
}

export interface Read {
  readonly resource: Resource;
  readonly text: string;
}

/** Each under its name and URI, in a fence that its content cannot close. */
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

/** Each as an XML element that its content cannot close. */
export function asXml(all: readonly Read[]): string {
  const documents = all.map(({ resource: { name, uri, mimeType }, text }) => {
    const type = mimeType === undefined ? "" : ` type="${escaped(mimeType)}"`;
    return `<document name="${escaped(name)}" uri="${escaped(uri)}"${type}>\n${escaped(text.replace(/\n$/, ""))}\n</document>\n`;
  });
  return `<documents>\n${documents.join("")}</documents>\n`;
}

/** XML cannot represent most control characters. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, (found) => (/[\t\n\r\x7f-\x9f]/.test(found) ? found : "\ufffd"))
    .replaceAll(/[&<>"]/g, (found) => entities[found] ?? found);
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
