/** Pages of `list` and `listIndexed`. */
import { compareAddresses } from "../../lib/address-order.ts";
import { directoryType } from "../../resources.ts";
import { expectExcludes, expectIncludes, expectSequence, expectSome, expectTrue } from "../expectations.ts";
import { formatAddress, show } from "../expectations.ts";
import { asking } from "../pages.ts";
import { addressesOf, toAddress } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testList(context: ContractContext): void {
  const { can, directories, inOrder, inside, known, list, listAll, read, source, test } = context;

  for (const limit of [1, 2, 7, 1000])
    test(`pages are disjoint, ordered by address and together complete, ${limit} at a time`, async () => {
      const entries = await listAll(limit);
      inOrder(entries, `the list, limit ${limit},`);
      expectIncludes(addressesOf(entries), known, `the list, limit ${limit}`);
    });

  test("an unordered list has no `order` and no `cursorAfter`", async () => {
    if (source().isUnordered)
      expectTrue(
        !source().order && !source().cursorAfter,
        "with `isUnordered`, `order` and `cursorAfter` mean nothing",
      );
  });

  test("continues right behind an entry with the cursor of that entry, if it gives one", async () => {
    const items = await listAll();
    for (const [index, entry] of items.entries()) {
      const cursor = source().cursorAfter?.(entry);
      if (cursor === undefined) return;
      const rest = await listAll(1000, cursor);
      expectSequence(addressesOf(rest), addressesOf(items.slice(index + 1)), `the list after ${show(entry.path)}`);
    }
  });

  test("pages of different sizes continue each other", async () => {
    const all = await listAll();
    const first = await list(asking(2));
    if (first.next === undefined) return;
    const rest = await listAll(1000, first.next);
    expectSameList(
      [...first.items, ...rest].map(formatAddress),
      all.map(formatAddress),
      "the list, limit 2, continued with limit 1000",
    );
  });

  test("a cursor may be used again", async () => {
    const all = (await listAll()).map(formatAddress);
    const first = await list(asking(2));
    if (first.next === undefined) return;
    await list(asking(2, first.next));
    const rest = await listAll(2, first.next);
    expectSameList(
      [...first.items, ...rest].map(formatAddress),
      all,
      "the list, limit 2, whose second page was requested twice,",
    );
  });

  test("lists the same addresses without versions", async () => {
    const all = (await listAll()).map(formatAddress);
    const { items } = await list({ limit: 1000, versions: false });
    if (!source().isUnordered)
      expectSequence(items.map(formatAddress), all.slice(0, items.length), "the list with `versions: false`");
    else expectIncludes(all, items.map(formatAddress), "the list, which contains what is listed without versions");
  });

  test("directories are not listed", async () => {
    const entries = await listAll();
    const found = entries.filter(({ mimeType }) => mimeType === directoryType);
    expectTrue(found.length === 0, `directories are in the list: ${show(addressesOf(found))}`);
    expectExcludes(addressesOf(entries), directories, "the list contains directories");
  });

  test("`lists` is true for every listed address", async () => {
    for (const entry of await listAll())
      expectTrue(source().lists?.(toAddress(entry)) ?? true, `${show(entry.path)} is listed, and \`lists\` is false`);
  });

  if (can("listIndexed"))
    test("every indexed address reads back, in address order", async () => {
      const { call, everything, method, settled } = context;
      const page = (cursor?: string) =>
        settled(method("listIndexed")(asking(2, cursor), call()), "listIndexed", asking(2, cursor));
      const indexed = await everything(page, "listIndexed, limit 2,");
      inOrder(indexed, "listIndexed, limit 2,");
      for (const entry of indexed) {
        expectTrue(source().indexes?.(toAddress(entry)) === true, `\`indexes\` is not true for ${show(entry.path)}`);
        expectSome(await read(toAddress(entry)), `the content of the indexed ${show(entry.path)}`);
      }
    });

  test("every listed address reads back", async () => {
    for (const entry of await listAll())
      expectSome(await read(toAddress(entry)), `the content of the listed ${show(entry.path)}`);
  });

  test(
    "an entry added or removed between two pages neither repeats nor hides another",
    async () => {
      const first = await list(asking(3));
      const last = first.items.at(-1);
      if (first.next === undefined || last === undefined) return;
      const listed = addressesOf(first.items);
      const compare = source().order ?? compareAddresses;
      const isPast = (path: string) => (source().isUnordered ? listed.includes(path) : compare(path, last.path) <= 0);
      for (const written of Object.keys(context.content))
        if (isPast(context.addressOf(written))) await context.remove(written);
      await context.write(`${inside}!first.txt`, "before everything");
      const rest = await listAll(3, first.next);
      inOrder([...first.items, ...rest], "the list, limit 3, with changes after the first page,");
      const left = known.filter((path) => !isPast(path));
      expectIncludes(addressesOf(rest), left, "the list after entries of the first page were removed");
    },
    context.lacks("write", "remove"),
  );

  function expectSameList(actual: readonly string[], expected: readonly string[], about: string): void {
    if (source().isUnordered) expectSequence([...new Set(actual)].sort(), [...new Set(expected)].sort(), about);
    else expectSequence(actual, expected, about);
  }
}
