/** The menu of what can be done with the choice. No side effects. */
import { isSetName, setNameRule } from "../../config/sets.ts";
import { type HostUse, usesOf } from "../../lib/host-uses.ts";
import type { KeyPress } from "./keys.ts";
import type { PickItem } from "./state.ts";

export type PickUse =
  | { readonly kind: "uris" }
  /** Prints a text for a host's prompt. */
  | { readonly kind: "prompt"; readonly text: string }
  | { readonly kind: "contents" | "copy"; readonly format: "markdown" | "xml" }
  | { readonly kind: "set"; readonly name: string };

interface UseEntry {
  readonly label: string;
  readonly use: PickUse;
  /** Why it does not work for these resources. */
  readonly problem?: string;
}

export interface UseMenu {
  /** The choice, or the resource that was under the cursor. */
  readonly items: ReadonlyMap<string, PickItem>;
  readonly entries: readonly UseEntry[];
  /** Line under the cursor. */
  readonly at: number;
  /** Name of the set, while it is typed. */
  readonly name?: string;
}

const forAnything: readonly UseEntry[] = [
  { label: "copy for chat, as Markdown", use: { kind: "copy", format: "markdown" } },
  { label: "copy for chat, as XML", use: { kind: "copy", format: "xml" } },
  { label: "print the contents, as Markdown", use: { kind: "contents", format: "markdown" } },
  { label: "print the contents, as XML", use: { kind: "contents", format: "xml" } },
  { label: "print the URIs", use: { kind: "uris" } },
];
const saving: UseEntry = { label: "save as a set, for hosts and later", use: { kind: "set", name: "" } };

/** Sets of another server cannot be changed. */
export function openUseMenu(items: ReadonlyMap<string, PickItem>, canSave: boolean): UseMenu {
  const uses = usesOf({ chosen: [...items.values()].map(({ uri, isDirectory }) => ({ uri, isFolder: isDirectory })) });
  const mentions = uses.filter(({ id }) => id.endsWith("-mentions"));
  // Hosts that take the same text share a line.
  const requests = Map.groupBy(
    uses.filter(({ id }) => id.endsWith("-request")),
    ({ text }) => text,
  );
  const entries = [
    ...mentions.map((use) => promptEntry([use], "print mentions")),
    ...[...requests.values()].map((same) => promptEntry(same, "print a request to read")),
    ...forAnything,
    ...(canSave ? [saving] : []),
  ];
  return { items, entries, at: 0 };
}

function promptEntry(uses: readonly HostUse[], what: string): UseEntry {
  const [{ text = "", problem } = {}] = uses;
  return { label: `${uses.map(({ group }) => group).join(", ")}: ${what}`, use: { kind: "prompt", text }, problem };
}

interface MenuStep {
  /** Undefined if the menu closes. */
  readonly menu?: UseMenu;
  readonly use?: PickUse;
  readonly notice?: string;
}

export function pressInMenu(menu: UseMenu, key: KeyPress): MenuStep {
  const { at, name, entries } = menu;
  if (name !== undefined) {
    const typed = typeof key === "object" ? key.typed : key === "space" ? " " : key === "help" ? "?" : undefined;
    if (typed !== undefined) return { menu: { ...menu, name: (name + typed).normalize("NFC") } };
    if (key === "backspace") return { menu: { ...menu, name: [...name].slice(0, -1).join("") } };
    if (key === "enter") return isSetName(name) ? { use: { kind: "set", name } } : { menu, notice: setNameRule };
    return { menu: key === "escape" ? { ...menu, name: undefined } : menu };
  }
  const digit = typeof key === "object" ? Number(key.typed) : NaN;
  if (digit >= 1 && digit <= entries.length) return decided(menu, digit - 1);
  if (key === "up" || key === "down")
    return { menu: { ...menu, at: (at + (key === "up" ? entries.length - 1 : 1)) % entries.length } };
  if (key === "enter") return decided(menu, at);
  return key === "escape" || key === "use" ? {} : { menu };
}

function decided(menu: UseMenu, at: number): MenuStep {
  const { use, problem } = menu.entries[at]!;
  if (problem !== undefined) return { menu: { ...menu, at }, notice: problem };
  return use.kind === "set" ? { menu: { ...menu, at, name: "" } } : { use };
}

/** `sets` are the names of existing ones. */
export function menuLines({ at, name, entries }: UseMenu, sets: ReadonlySet<string>): string[] {
  const lines = entries.map(
    ({ label, problem }, index) =>
      `${index === at ? ">" : " "} ${index + 1}  ${label}${problem === undefined ? "" : ` (${problem})`}`,
  );
  const title =
    name === undefined
      ? "Use the choice (a number, or enter; escape goes back):"
      : `name of the set: ${name}_${sets.has(name) ? "  (exists; enter adds to it)" : ""}`;
  return [title, ...lines];
}
