/** Single entries. */
import { directoryType } from "../../resources.ts";
import { expectEqual, expectPlainDirectory, expectTrue, show } from "../expectations.ts";
import { refusal } from "../refusal.ts";
import { textOf, toAddress, unknownQuery } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testStat(context: ContractContext): void {
  const { aFile, aWritten, can, directories, known, listAll, missing, read, stat, test } = context;

  test("agrees with the list", async () => {
    for (const entry of await listAll())
      expectEqual(await stat(toAddress(entry)), entry, `stat ${show(entry.path)}, compared with its entry in the list`);
  });

  test("no variables are the same as no query", async () => {
    const { query: _query, ...entry } = await stat({ path: aFile, query: {} });
    expectEqual(entry, await stat({ path: aFile }), `stat ${show(aFile)} with an empty query`);
  });

  if (can("children"))
    test("describes directories", async () => {
      for (const path of ["", ...directories]) {
        const entry = await stat({ path });
        expectEqual([entry.path, entry.mimeType], [path, directoryType], `stat of the directory ${show(path)}`);
        expectPlainDirectory(entry);
      }
    });

  test('a missing address throws "not-found"', async () => {
    for (const path of missing) await refusal(stat({ path }), ["not-found"], `stat ${show(path)}`);
    for (const path of new Set([aFile, ...known.slice(0, 3), ...(can("children") ? directories.slice(0, 1) : [])]))
      await refusal(stat({ path, query: unknownQuery }), ["not-found"], `stat ${show(path)} with an unknown query`);
  });

  test("equal versions mean equal content", async () => {
    const { version } = await stat({ path: aFile });
    expectEqual((await stat({ path: aFile })).version, version, `the version of the unchanged ${show(aFile)}`);
    if (version === undefined || !context.setup.write) return;
    const seen = new Set([version]);
    for (const text of ["one", "two", "six"]) {
      await context.write(aWritten, text);
      const later = (await stat({ path: aFile })).version;
      expectTrue(
        later === undefined || !seen.has(later),
        `the version of ${show(aFile)} is ${show(later)} again after ${show(text)} was written`,
      );
      if (later !== undefined) seen.add(later);
      expectEqual(textOf(await read({ path: aFile })), text, `read ${show(aFile)} after it was written`);
    }
  });
}
