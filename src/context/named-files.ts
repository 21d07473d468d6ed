/** Finds what the task names: URIs, paths by their ends, commits and tables through templates. */
import { encodePath } from "../lib/encode-path.ts";
import { parseTemplate } from "../lib/uri-template.ts";
import { type Call, directoryType, type Resource, type Resources } from "../resources.ts";
import { readable } from "./candidates.ts";
import { roundRobin, tryRequest } from "./round-robin.ts";
import { findPinned, isSet } from "./pins.ts";
import type { Task } from "./read-task.ts";

interface Named {
  readonly resource: Resource;
  readonly why: string;
}

const atOnce = 4;
const maxTemplates = 200;
const maxFilled = 24;
const commitVariable = /^(?:sha|commit|hash|rev|revision|ref)$/i;
const tableVariable = /^(?:table|view|collection|dataset|measurement|metric)$/i;

/** `known` holds the search hits. */
export async function findNamed(
  resources: Resources,
  task: Task,
  known: readonly Resource[],
  within: string | undefined,
  call: Call,
): Promise<readonly Named[]> {
  const { uris, paths, hashes } = task.names;
  const byPath = paths.flatMap((path) =>
    known
      .filter(({ uri, mimeType }) => mimeType !== directoryType && endsWithPath(uri, path))
      .slice(0, 3)
      .map((resource) => ({ resource, why: `is named in the task: ${path}` })),
  );
  const start = within === undefined ? undefined : `${within.replace(/\/$/, "")}/`;
  const wanted = [
    ...uris.filter((uri) => !isSet(uri)).map((uri) => ({ uri, name: uri })),
    ...(start === undefined ? [] : paths.map((path) => ({ uri: start + encodePath(withoutDots(path)), name: path }))),
    ...(await filled(resources, task, hashes, call)),
  ];
  const found = await roundRobin(wanted, atOnce, async ({ uri, name }): Promise<readonly Named[]> => {
    if (start !== undefined && !uri.startsWith(start)) return [];
    const resource = await findPinned(resources, uri, call);
    return resource && resource.mimeType !== directoryType ? [{ resource, why: `is named in the task: ${name}` }] : [];
  });
  return [...byPath, ...found.flat()];
}

function endsWithPath(uri: string, path: string): boolean {
  const whole = readable(uri);
  return whole === path || whole.endsWith(`/${path.replace(/^\/+/, "")}`);
}

function withoutDots(path: string): string {
  return path
    .split("/")
    .filter((segment) => segment !== "" && segment !== "." && segment !== "..")
    .join("/");
}

interface Spelled {
  readonly uri: string;
  readonly name: string;
}

/** Expands templates with hashes and table names. */
async function filled(
  resources: Resources,
  task: Task,
  hashes: readonly string[],
  call: Call,
): Promise<readonly Spelled[]> {
  const tables = tableNames(task);
  if (hashes.length === 0 && tables.length === 0) return [];
  const { items } = await tryRequest(() => resources.templates({ limit: maxTemplates }, call), { items: [] }, call);
  const all: Spelled[] = [];
  for (const { uriTemplate } of items.slice(0, maxTemplates)) {
    if (all.length >= maxFilled) break;
    // Query variables are optional.
    const path = uriTemplate.replaceAll(/\{[?&#][^{}]*\}/g, "");
    let template;
    try {
      template = parseTemplate(path);
    } catch {
      continue;
    }
    const [only, ...more] = template.variables;
    if (only !== undefined && more.length === 0 && commitVariable.test(only))
      all.push(...hashes.map((hash) => ({ uri: template.expand({ [only]: hash }), name: hash })));
    const table = template.variables.find((name) => tableVariable.test(name));
    const other = template.variables.filter((name) => name !== table);
    if (table === undefined || other.length > 1) continue;
    for (const name of tables) {
      const [variable] = other;
      const request = { template: uriTemplate, variable: variable ?? "", value: "", given: { [table]: name } };
      const { values } =
        variable === undefined
          ? { values: [""] }
          : await tryRequest(() => resources.complete(request, call), { values: [] }, call);
      for (const value of values.slice(0, 2))
        all.push({
          uri: template.expand({ [table]: name, ...(variable !== undefined && { [variable]: value }) }),
          name,
        });
    }
  }
  return all.slice(0, maxFilled);
}

/** The word beside the word "table", and names in program style. */
function tableNames({ text, names }: Task): readonly string[] {
  const beside = Array.from(
    text.matchAll(
      /\b(?:tables?|views?)\s+[`"']?(\w{2,63})|[`"']?\b(\w{2,63})[`"']?\s+(?:tables?|views?)\b|(\w{2,63})\s?テーブル/giu,
    ),
    (match) => match[1] ?? match[2] ?? match[3]!,
  );
  return [...new Set([...beside, ...names.symbols.filter((name) => name.includes("_"))])].slice(0, 6);
}
