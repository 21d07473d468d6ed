/** Sends every kind of request and records the exact responses: for tests that compare two servers. */
import { toResourceError } from "../errors.ts";
import type { Call, Page, Resources } from "../resources.ts";

/** A result, or the exact error. */
export async function outcome(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (cause) {
    const { kind, message, details, passing } = toResourceError(cause);
    return { kind, message, details, passing };
  }
}

/** All pages; the cursor is replaced by whether there is another page. */
async function pages(request: (cursor: { cursor?: string }) => Promise<Page<unknown>>) {
  const all: unknown[] = [];
  for (let cursor: { cursor?: string } | undefined = {}; cursor !== undefined;) {
    const { next, ...page }: Page<unknown> = await request(cursor);
    all.push({ ...page, more: next !== undefined });
    cursor = next === undefined ? undefined : { cursor: next };
  }
  return all;
}

/** The responses to all requests, by request; `bases` are the URI prefixes of the mounts. */
export async function askAll(pressmark: Resources, uris: readonly string[], bases: readonly string[], call: Call) {
  const answers = new Map<string, unknown>();
  const note = async (name: string, promise: Promise<unknown>) => answers.set(name, await outcome(promise));
  await note(
    "list",
    pages((cursor) => pressmark.list(cursor, call)),
  );
  for (const filter of [{ namePatterns: ["a*", "?"] }, { uriPatterns: ["*b*"] }])
    await note(
      `list ${JSON.stringify(filter)}`,
      pages((cursor) => pressmark.list({ ...cursor, filter }, call)),
    );
  await note("templates", pressmark.templates({}, call));
  await note(
    "skills",
    pages(async (cursor) => (await pressmark.skills?.(cursor, call)) ?? { items: [] }),
  );
  for (const uri of uris) {
    await note(`read ${uri}`, pressmark.read(uri, call));
    await note(`stat ${uri}`, pressmark.stat(uri, call));
    await note(`skill ${uri}`, Promise.resolve(pressmark.skill?.(uri, call)));
    await note(
      `children ${uri}`,
      pages((cursor) => pressmark.children(uri, cursor, call)),
    );
    await note(`search within ${uri}`, pressmark.search({ text: "tea", limit: 3, within: uri }, call));
    await note(`complete ${uri}`, pressmark.complete({ template: uri, variable: "path", value: "", given: {} }, call));
  }
  await note("actions", Promise.resolve(pressmark.actions?.(call)));
  for (const mount of bases.map((base) => base.slice(0, base.indexOf(":"))))
    for (const path of ["", "a", "b", "a/b", "nowhere"])
      await note(`act ${mount} ${path}`, Promise.resolve(pressmark.act?.({ mount, name: "tell" }, { path }, call)));
  for (const limit of [1, 2, 5, 100]) await note(`search ${limit}`, pressmark.search({ text: "tea", limit }, call));
  for (const base of bases)
    for (const value of ["", "a", "c"])
      await note(
        `complete ${base} ${value}`,
        pressmark.complete({ template: `${base}{+path}`, variable: "path", value, given: {} }, call),
      );
  return answers;
}

export const encode = (at: string) => at.split("/").map(encodeURIComponent).join("/");
export const overEncode = (at: string) => at.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
