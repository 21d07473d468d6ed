/** Sends every possible request about the files and the history of a folder, and collects the responses. */
import { toResourceError } from "../../errors.ts";
import { rootOf } from "../../protocol/tools/mounts.ts";
import { type Call, directoryType, type Page, type Resource, type Resources } from "../../resources.ts";
import { unquoteName } from "../git/unquote-name.ts";
import { type TestHistory, words } from "./test-history.ts";

/** The response as text, or the error. */
export async function said(asked: Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await asked);
  } catch (cause) {
    const { kind, details } = toResourceError(cause);
    return JSON.stringify({ kind, details });
  }
}

async function pages<T>(ask: (cursor: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: { cursor?: string } | undefined = {}; cursor;) {
    const { next, items: some }: Page<T> = await ask(cursor);
    items.push(...some);
    cursor = next === undefined ? undefined : { cursor: next };
  }
  return items;
}

/** Everything that is reachable by browsing. */
async function browse(pressmark: Resources, uri: string, call: Call): Promise<Resource[]> {
  const found: Resource[] = [];
  const ahead = [uri];
  for (let at = ahead.pop(); at !== undefined; at = ahead.pop()) {
    const folder = at;
    const children = await pages((cursor) => pressmark.children(folder, cursor, call));
    found.push(...children);
    for (const { uri: below, mimeType } of children) if (mimeType === directoryType) ahead.push(below);
  }
  return found;
}

export async function textAt(pressmark: Resources, uri: string, call: Call): Promise<string> {
  const [content] = (await pressmark.read(uri, call)).contents;
  return content && "text" in content.body ? content.body.text : "";
}

export const encode = (path: string) => path.split("/").map(encodeURIComponent).join("/");

/** Without the escapes of URIs and of git. */
export function plain(text: string): string {
  return text
    .replaceAll(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
      try {
        return decodeURIComponent(escaped);
      } catch {
        return escaped;
      }
    })
    .replaceAll(/(?:\\{1,2}[0-7]{3})+/g, (escaped) => unquoteName(`"${escaped.replaceAll("\\\\", "\\")}"`));
}

/** The content of a read, without the requested address. */
async function readAt(pressmark: Resources, uri: string, call: Call): Promise<string> {
  const reading = pressmark.read(uri, call);
  return said(reading.then(({ contents }) => contents.map(({ uri: _uri, ...content }) => content)));
}

/** Makes every possible request for the files and commits of a repository. */
async function askHistory(
  pressmark: Resources,
  base: string,
  { commits, branches }: TestHistory,
  call: Call,
): Promise<string[]> {
  const answers: string[] = [];
  const read = async (uri: string) => answers.push(await readAt(pressmark, `${base}${uri}`, call));
  for (const at of ["status", "branches", "tags", "log"]) await read(at);
  for (const ref of ["HEAD~1", ...branches.map(encodeURIComponent)]) {
    await read(`commit/${ref}`);
    for (let query: string | undefined = `ref=${ref}&max=2`; query !== undefined;) {
      const page = await readAt(pressmark, `${base}log?${query}`, call);
      answers.push(page);
      query = /"next\\":\\"([^\\]+)/.exec(page)?.[1];
    }
    for (const path of ["zqsrc", "zqprivate", ".github"]) await read(`log?ref=${ref}&path=${path}`);
    await read(`diff/HEAD/${ref}?path=zqsrc`);
  }
  for (const { hash, parents } of commits) {
    await read(`commit/${hash}`);
    for (const parent of parents) await read(`diff/${commits[parent]!.hash}/${hash}`);
  }
  return answers;
}

/** Completion requests for all templates, and their suggestions. */
async function askTemplates(pressmark: Resources, { branches }: TestHistory, call: Call): Promise<string[]> {
  const templates = await pages((cursor) => pressmark.templates(cursor, call));
  const answers = [JSON.stringify(templates)];
  for (const { uriTemplate: template } of templates)
    for (const variable of ["path", "ref", "sha", "base", "head", "skill", "lang", "heading", "name"])
      for (const value of ["", "z", "zqsrc/", "zqprivate/", ".zqdot/", "skills/zqskill/", "."])
        for (const ref of variable === "path" ? ["HEAD", ...branches] : ["HEAD"]) {
          if (!new RegExp(`[{/?,+*]${variable}[},*]`).test(template)) continue;
          const given: Record<string, string> = template.includes("{ref}") && variable === "path" ? { ref } : {};
          answers.push(await said(pressmark.complete({ template, variable, value, given }, call)));
        }
  return answers;
}

export interface Answers {
  readonly answers: readonly string[];
  /** Everything reachable by browsing, in all mounts. */
  readonly browsed: readonly Resource[];
}

export async function askEverything(
  pressmark: Resources,
  bases: readonly string[],
  history: TestHistory,
  call: Call,
): Promise<Answers> {
  const answers: string[] = [];
  const listed = await pages((cursor) => pressmark.list(cursor, call));
  answers.push(JSON.stringify(listed));
  const browsed = (await Promise.all(bases.map((base) => browse(pressmark, rootOf(base), call)))).flat();
  answers.push(JSON.stringify(browsed));
  for (const { uri, mimeType } of [...listed, ...browsed]) {
    answers.push(await said(pressmark.stat(uri, call)));
    if (mimeType === directoryType) continue;
    for (const query of ["", "?lines=1-1", "?bytes=0-3"]) answers.push(await readAt(pressmark, uri + query, call));
  }
  for (const { uri } of browsed)
    if (/^git:\/\/[^/]+\/tree\/main\/.*\./.test(uri))
      answers.push(await readAt(pressmark, uri.replace("/tree/", "/blame/"), call));
  for (const base of bases)
    if (base.startsWith("git:")) answers.push(...(await askHistory(pressmark, base, history, call)));
  answers.push(...(await askTemplates(pressmark, history, call)));
  if (pressmark.skills) answers.push(await said(pages((cursor) => pressmark.skills!(cursor, call))));
  for (const text of ["zqprivate", "zqf", "zqg", "zqhidden", "mk2", "mk4", "mk5", "mk101", "mk103", "line change"])
    answers.push(await said(pressmark.search({ text, limit: 1000 }, call)));
  return { answers, browsed };
}

/** The marker words in the responses, each once. */
export function wordsIn(answers: readonly string[]): string[] {
  // Escaped line breaks end in a letter.
  const texts = answers.map((answer) => plain(answer).replaceAll(/\\+[nrt]/g, " "));
  return [...new Set(texts.flatMap((text) => text.match(words) ?? []))];
}
