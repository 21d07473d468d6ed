/** Directories, and resources that have children. */
import { directoryType } from "../../resources.ts";
import { segmentsOf } from "../../source.ts";
import type { Entry } from "../../source.ts";
import { directoriesOf } from "../contract-content.ts";
import {
  expectEqual,
  expectIncludes,
  expectPlainDirectory,
  expectSequence,
  expectSome,
  expectTrue,
  formatAddress,
  show,
} from "../expectations.ts";
import { asking } from "../pages.ts";
import { refusal } from "../refusal.ts";
import { addressesOf, toAddress, unknownQuery } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testChildren(context: ContractContext): void {
  const { aFile, childrenOf, children, directories, known, listAll, missing, parents, read, source, test } = context;

  for (const limit of [1, 2, 1000])
    test(`are the direct children of a directory, directories included, ${limit} at a time`, async () => {
      for (const path of ["", ...parents]) {
        const about = `children of ${show(path)} (limit ${limit})`;
        const entries = await childrenOf(path, limit);
        // Where the list has an order of its own, children may have another: it must not depend on the size of the pages.
        context.inOrder(entries, about, source().order && (() => 0));
        if (!source().isUnordered) expectSequence(addressesOf(entries), addressesOf(await childrenOf(path)), about);
        for (const entry of entries)
          expectTrue(isChildOf(path, entry.path), `${about} contain ${show(entry.path)}, which is not a direct child`);
        const direct = [...known, ...parents].filter((other) => isChildOf(path, other));
        expectIncludes(addressesOf(entries), direct, about);
        for (const entry of entries) {
          if (!known.includes(entry.path) && !directories.includes(entry.path)) continue;
          const type = directories.includes(entry.path) ? "a directory" : "a resource";
          expectEqual(entry.mimeType === directoryType ? "a directory" : "a resource", type, show(entry.path));
        }
      }
    });

  test("are as many as the entry of the directory states, which is no resource", async () => {
    for (const path of ["", ...parents])
      for (const entry of await childrenOf(path)) {
        if (entry.mimeType === directoryType) expectPlainDirectory(entry);
        if (entry.children === undefined) continue;
        const { length } = await childrenOf(entry.path);
        expectEqual(entry.children, length, `the number of children in the entry of ${show(entry.path)}`);
      }
  });

  test("are the same without variables as without a query", async () => {
    const [plain, empty] = [
      await children({ path: "" }, asking(2)),
      await children({ path: "", query: {} }, asking(2)),
    ];
    expectEqual(addressesOf(empty.items), addressesOf(plain.items), "children of '' with an empty query");
  });

  test("lead from the mount to everything that is listed", async () => {
    const reached = new Set<string>();
    const ahead = [""];
    for (let path = ahead.pop(); path !== undefined; path = ahead.pop())
      for (const entry of await childrenOf(path)) {
        if (entry.mimeType === directoryType || entry.hasChildren) ahead.push(entry.path);
        if (entry.mimeType !== directoryType) reached.add(formatAddress(entry));
      }
    expectIncludes(reached, (await listAll()).map(formatAddress), "what `children` reaches from the mount");
  });

  test("a resource with another one below it has children, and is in its directory once", async () => {
    const entries = await listAll();
    const listed = new Map(entries.map((entry): [string, Entry] => [formatAddress(entry), entry]));
    for (const path of directoriesOf(addressesOf(entries)))
      expectTrue(
        listed.get(path)?.hasChildren ?? !listed.has(path),
        `${show(path)} is listed and something below it too: its entry must have \`hasChildren: true\``,
      );
    for (const entry of entries.filter(({ hasChildren }) => hasChildren)) {
      expectSome(await childrenOf(entry.path), `children of ${show(entry.path)}, which has \`hasChildren\`,`);
      expectSome(await read(toAddress(entry)), `the content of ${show(entry.path)}, which has \`hasChildren\`,`);
      const parent = entry.path.split("/").slice(0, -1).join("/");
      const same = (await childrenOf(parent)).filter((child) => formatAddress(child) === formatAddress(entry));
      expectEqual(same, [entry], `${show(entry.path)} among the children of ${show(parent)}`);
      if (context.can("stat"))
        expectEqual(
          await context.stat(toAddress(entry)),
          entry,
          `stat ${show(entry.path)}, which has \`hasChildren\`,`,
        );
    }
  });

  test('anything else throws "not-found"', async () => {
    for (const path of [...missing, aFile])
      await refusal(children({ path }, asking(10)), ["not-found"], `children of ${show(path)}`);
    for (const path of ["", ...parents.slice(0, 1)]) {
      const about = `children of ${show(path)} with an unknown query`;
      await refusal(children({ path, query: unknownQuery }, asking(10)), ["not-found"], about);
    }
  });
}

function isChildOf(parent: string, path: string): boolean {
  return segmentsOf(path).length === segmentsOf(parent).length + 1 && (parent === "" || path.startsWith(`${parent}/`));
}
