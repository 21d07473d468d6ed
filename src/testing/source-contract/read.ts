/** Content, and addresses that have none. */
import type { ErrorKind } from "../../errors.ts";
import { expectEqual, show } from "../expectations.ts";
import { asking } from "../pages.ts";
import { refusal } from "../refusal.ts";
import { WaitError } from "../within.ts";
import { textOf, unknownQuery } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testRead(context: ContractContext): void {
  const { aFile, can, directories, known, listAll, missing, read, test, texts } = context;

  test("returns the content, whatever its name", async () => {
    for (const [path, text] of texts) expectEqual(textOf(await read({ path })), text, `read ${show(path)}`);
  });

  test("returns as many bytes as the list states", async () => {
    const expected = new Map(texts);
    for (const { path, query, size } of await listAll()) {
      const text = expected.get(path);
      if (query || size === undefined || text === undefined) continue;
      expectEqual(size, new TextEncoder().encode(text).length, `the size of ${show(path)} in the list`);
    }
  });

  test('a missing address throws "not-found"; it never returns an empty array', async () => {
    for (const path of missing) await refusal(read({ path }), ["not-found"], `read ${show(path)}`);
  });

  test("an address with an unknown query is missing", async () => {
    for (const path of new Set([aFile, ...known.slice(0, 3), ...directories.slice(0, 1)]))
      await refusal(read({ path, query: unknownQuery }), ["not-found"], `read ${show(path)} with an unknown query`);
  });

  test("no variables are the same as no query", async () => {
    expectEqual(
      await read({ path: aFile, query: {} }),
      await read({ path: aFile }),
      `read ${show(aFile)}, empty query`,
    );
  });

  test('a directory throws "directory"', async () => {
    const kinds: ErrorKind[] = can("children") ? ["directory"] : ["directory", "not-found"];
    for (const path of ["", ...directories]) await refusal(read({ path }), kinds, `read the directory ${show(path)}`);
  });

  test("a call whose signal is already aborted returns or fails, and never hangs", async () => {
    context.abort();
    const results = await Promise.allSettled([read({ path: aFile }), context.list(asking(10))]);
    for (const result of results)
      if (result.status === "rejected" && result.reason instanceof WaitError) throw result.reason;
  });
}
