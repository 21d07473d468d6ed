/** Changes as a client sees them. */
import type { Change } from "../../resources.ts";
import { expectEqual, expectExcludes } from "../expectations.ts";
import { spellingsOf } from "./resources-context.ts";
import type { ResourcesContext } from "./resources-context.ts";

export function testResourceWatch(context: ResourcesContext): void {
  const { aFile, inside, lacks, remove, test, uriOf, watch, write } = context;

  test("watches readable URIs as the caller wrote them, and leaves out the rest", async () => {
    const form = spellingsOf(uriOf(aFile)).at(-1) ?? "";
    const { uris } = await watch({ uris: [form, "no-such-scheme://x/y"] });
    expectEqual(uris, [form], "the watched URIs");
  });

  test(
    "resolves when the watch is active: no later change is missed",
    async () => {
      const uri = uriOf(aFile);
      const { until } = await watch({ uris: [uri] });
      await write(aFile, "another text");
      await until((change) => isUpdate(change, uri), `the change \`updated ${uri}\``);
    },
    lacks("write"),
  );

  test(
    "reports a list change when something appears or goes, to those who requested it",
    async () => {
      const lists = await watch({ list: true });
      const things = await watch({ uris: [uriOf(aFile)] });
      await write(`${inside}appeared.txt`, "new");
      await lists.until(isListChange, "the change `list-changed` after a file appeared");
      await write(aFile, "another text");
      await things.until((change) => isUpdate(change, uriOf(aFile)), `the change \`updated ${uriOf(aFile)}\``);
      expectExcludes(
        things.heard.map(({ kind }) => kind),
        ["list-changed"],
        "a watch of one URI",
      );
      const again = await watch({ list: true });
      await remove(`${inside}appeared.txt`);
      await again.until(isListChange, "the change `list-changed` after a file was removed");
    },
    lacks("write", "remove"),
  );

  test("ends when the call's signal does", async () => {
    const ending = new AbortController();
    const { untilEnd } = await watch({ uris: [uriOf(aFile)], list: true }, ending.signal);
    ending.abort();
    await untilEnd("its signal was aborted");
  });
}

function isUpdate(change: Change, uri: string): boolean {
  return change.kind === "updated" && change.uri === uri;
}

function isListChange({ kind }: Change): boolean {
  return kind === "list-changed";
}
