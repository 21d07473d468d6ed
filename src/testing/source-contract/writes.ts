/** What was written or removed shows at once, whatever was requested before. */
import { pathOf, segmentsOf } from "../../source.ts";
import { expectEqual, expectExcludes, expectIncludes, show } from "../expectations.ts";
import { refusal } from "../refusal.ts";
import { addressesOf, textOf } from "./contract-context.ts";
import type { ContractContext } from "./contract-context.ts";

export function testWrites(context: ContractContext): void {
  const { can, childrenOf, inside, listAll, read, stat, test } = context;
  const written = `${inside}just-written.txt`;
  const path = context.addressOf(written);
  const parent = pathOf(segmentsOf(path).slice(0, -1));
  /** In every text that is written here, and in no other. */
  const word = "wrxqz";

  async function expectShown(text: string): Promise<void> {
    expectIncludes(addressesOf(await listAll()), [path], "the list after a write");
    if (can("children"))
      expectIncludes(addressesOf(await childrenOf(parent)), [path], `children of ${show(parent)} after a write`);
    if (can("stat")) expectEqual((await stat({ path })).path, path, "stat after a write");
    expectEqual(textOf(await read({ path })), text, `read ${show(path)} after a write`);
    const found = can("search") ? await context.pathsOfHits(word) : undefined;
    if (found) expectIncludes(found, [path], `the hits for ${show(word)} after a write`);
  }

  async function expectAbsent(when: string): Promise<void> {
    expectExcludes(addressesOf(await listAll()), [path], `the list ${when}`);
    if (can("children") && (parent === "" || (await addressesAbove()).includes(parent)))
      expectExcludes(addressesOf(await childrenOf(parent)), [path], `children of ${show(parent)} ${when}`);
    if (can("stat")) await refusal(stat({ path }), ["not-found"], `stat ${show(path)} ${when}`);
    await refusal(read({ path }), ["not-found"], `read ${show(path)} ${when}`);
    const found = can("search") ? await context.pathsOfHits(word) : undefined;
    if (found) expectExcludes(found, [path], `the hits for ${show(word)} ${when}`);
  }

  /** The directories above the listed entries. */
  async function addressesAbove(): Promise<string[]> {
    return (await listAll()).flatMap(({ path: each }) =>
      segmentsOf(each).map((_, index, all) => pathOf(all.slice(0, index))),
    );
  }

  test(
    "list, children, stat, read and search show what was written",
    async () => {
      await expectAbsent("before a write");
      await context.write(written, `just written: ${word}`);
      await expectShown(`just written: ${word}`);
      await context.write(written, `written once more, and longer: ${word}`);
      await expectShown(`written once more, and longer: ${word}`);
    },
    context.lacks("write"),
  );

  test(
    "list, children, stat, read and search no longer show what was removed",
    async () => {
      await context.write(written, `soon removed: ${word}`);
      await expectShown(`soon removed: ${word}`);
      await context.remove(written);
      await expectAbsent("after a removal");
    },
    context.lacks("write", "remove"),
  );
}
