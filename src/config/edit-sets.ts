/** Changes one set in the text of a config, and keeps comments and everything else. */
import type { Document, YAMLSeq } from "yaml";
import { invalid } from "../errors.ts";
import { callInThread } from "../lib/threads.ts";
import { editJson } from "./hosts/edit-json.ts";
import { parseText, type ConfigTextFormat } from "./parse-text.ts";
import { isPlainObject } from "./references.ts";
import type { SetSettings } from "./schema.ts";

/** Parsing this much takes a few hundredths of a second; longer texts are edited in a thread. */
const maxHere = 2 * 1024;

/** `after` undefined removes the set. The text must be a valid config. */
export async function editSet(
  text: string,
  format: ConfigTextFormat,
  name: string,
  after: SetSettings | undefined,
): Promise<string> {
  const edited = await (text.length <= maxHere
    ? tryEditSet(text, format, name, after)
    : callInThread<string | undefined>(
        new URL("./edit-sets.ts", import.meta.url),
        "tryEditSet",
        text,
        format,
        name,
        after,
      ));
  if (edited !== undefined) return edited;
  throw invalid("the config cannot be edited automatically; change its sets by hand");
}

/** Also called in the thread. Undefined if the text cannot be edited. */
export async function tryEditSet(
  text: string,
  format: ConfigTextFormat,
  name: string,
  after: SetSettings | undefined,
): Promise<string | undefined> {
  const wanted = { ...(await setsIn(text, format)) };
  if (after) wanted[name] = clean(after);
  else delete wanted[name];
  const edits = format === "json" ? [editJsonSet] : [editLines, editYamlSet];
  for (const edit of edits) {
    const edited = await edit(text, name, after);
    // Accepts an edit only if nothing but this set has changed.
    if (edited !== undefined && isSame(await setsIn(edited, format), wanted)) return edited;
  }
  return undefined;
}

async function setsIn(text: string, format: ConfigTextFormat): Promise<Readonly<Record<string, unknown>>> {
  const parsed = await parseText(text, format);
  const sets = "value" in parsed && isPlainObject(parsed.value) ? parsed.value["sets"] : undefined;
  return isPlainObject(sets) ? sets : {};
}

async function editJsonSet(text: string, name: string, after: SetSettings | undefined): Promise<string> {
  const before = await setsIn(text, "json");
  if (!after) {
    const { [name]: _, ...rest } = before;
    return editJson(text, ["sets"], rest);
  }
  if (!isPlainObject(before[name])) return editJson(text, ["sets", name], clean(after));
  let edited = text;
  for (const [key, value] of Object.entries(clean(after)))
    if (!isSame(before[name][key], value)) edited = editJson(edited, ["sets", name, key], value);
  return edited;
}

async function editYamlSet(text: string, name: string, after: SetSettings | undefined): Promise<string> {
  const yaml = await import("yaml");
  const document: Document = yaml.parseDocument(text, { prettyErrors: false });
  const path = ["sets", name];
  if (!after) {
    document.deleteIn(path);
    const left: unknown = document.get("sets");
    if (yaml.isMap(left) && left.items.length === 0) document.delete("sets");
  } else if (!yaml.isMap(document.getIn(path))) {
    if (!yaml.isMap(document.get("sets"))) {
      const isPlain = document.contents === null || (yaml.isMap(document.contents) && !document.contents.flow);
      if (isPlain && !document.has("sets"))
        return append(text, yaml.stringify({ sets: { [name]: clean(after) } }, { lineWidth: 0 }));
      document.set("sets", document.createNode({}));
    }
    document.setIn(path, document.createNode(clean(after)));
  } else {
    const { resources, ...others } = clean(after);
    for (const [key, value] of Object.entries(others))
      if (value === undefined) document.deleteIn([...path, key]);
      else document.setIn([...path, key], value);
    const items: unknown = document.getIn([...path, "resources"]);
    if (yaml.isSeq(items)) changeItems(items, resources, document, yaml.isScalar);
    else document.setIn([...path, "resources"], document.createNode(resources));
  }
  return splice(text, document.toString({ lineWidth: 0 }), yaml);
}

/** For resources on one line each: adds and removes lines only. */
async function editLines(text: string, name: string, after: SetSettings | undefined): Promise<string | undefined> {
  const yaml = await import("yaml");
  const items: unknown = yaml.parseDocument(text, { prettyErrors: false }).getIn(["sets", name, "resources"]);
  if (!after || !yaml.isSeq(items) || items.flow || items.items.length === 0) return undefined;
  const there = items.items.map((item) => {
    const [start = 0] = yaml.isScalar(item) ? (item.range ?? []) : [];
    const from = text.lastIndexOf("\n", start) + 1;
    const end = text.indexOf("\n", start);
    return {
      value: yaml.isScalar(item) ? item.value : undefined,
      dash: text.slice(from, start),
      from,
      to: end < 0 ? text.length : end + 1,
    };
  });
  const last = there.at(-1)!;
  if (!there.every(({ dash }) => /^ *- +$/.test(dash)) || !text.slice(last.from, last.to).endsWith("\n"))
    return undefined;
  const lineBreak = text.slice(last.from, last.to).endsWith("\r\n") ? "\r\n" : "\n";
  const added = after.resources
    .filter((each) => !there.some(({ value }) => value === each))
    .map((each) => `${last.dash}${yaml.stringify(each, { lineWidth: 0 }).trimEnd()}${lineBreak}`);
  let edited = text.slice(0, last.to) + added.join("") + text.slice(last.to);
  for (const { value, from, to } of there.toReversed())
    if (!after.resources.some((each) => each === value)) edited = edited.slice(0, from) + edited.slice(to);
  return edited;
}

/** Remaining items keep their position and comments. */
function changeItems(
  items: YAMLSeq,
  wanted: readonly string[],
  document: Document,
  isScalar: typeof import("yaml").isScalar,
): void {
  const valueOf = (item: unknown) => (isScalar(item) ? item.value : undefined);
  items.items = items.items.filter((item) => wanted.some((each) => each === valueOf(item)));
  for (const each of wanted)
    if (!items.items.some((item) => valueOf(item) === each)) items.add(document.createNode(each));
}

/** Replaces only the sets in the old text, because the YAML writer reformats everything else. */
function splice(before: string, after: string, yaml: typeof import("yaml")): string {
  const [old, fresh] = [before, after].map((text) => rangeOfSets(text, yaml));
  if (!old) return after;
  const sets = fresh ? after.slice(fresh.start, fresh.end) : "";
  return `${before.slice(0, old.start)}${sets}${before.slice(old.end)}`;
}

/** From the key to the end of its value, including the line break. */
function rangeOfSets(
  text: string,
  yaml: typeof import("yaml"),
): { readonly start: number; readonly end: number } | undefined {
  const { contents } = yaml.parseDocument(text, { prettyErrors: false });
  if (!yaml.isMap(contents) || contents.flow) return undefined;
  const pair = contents.items.find(({ key }) => yaml.isScalar(key) && key.value === "sets");
  const start = yaml.isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
  const end = yaml.isNode(pair?.value) ? pair.value.range?.[2] : undefined;
  return start === undefined || end === undefined ? undefined : { start, end };
}

function append(text: string, added: string): string {
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const isEnded = text === "" || text.endsWith("\n");
  return `${text}${isEnded ? "" : lineBreak}${added.replaceAll("\n", lineBreak)}`;
}

function clean({ title, description, resources }: SetSettings): {
  readonly title?: string;
  readonly description?: string;
  readonly resources: string[];
} {
  return { title, description, resources };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}
