/** Content and descriptions of single resources. */
import type { Resource } from "../../resources.ts";
import type { ContractRunner } from "../contract-runner.ts";
import { expectEqual, expectTrue, show } from "../expectations.ts";
import { refusal } from "../refusal.ts";
import { WaitError } from "../within.ts";
import { spellingsOf } from "./resources-context.ts";
import type { ResourcesContext } from "./resources-context.ts";

export function testResourceReads(context: ResourcesContext, runner: ContractRunner): void {
  runner.describe("read", () => testReads(context));
  runner.describe("stat", () => testStats(context));
}

function testReads(context: ResourcesContext): void {
  const { aFile, call, missing, read, resources, settled, stat, test, texts, uriOf } = context;

  test("returns the content, whatever its name", async () => {
    for (const [path, text] of texts) {
      const [{ body } = { body: { text: undefined } }] = (await read(uriOf(path))).contents;
      expectEqual("bytes" in body ? new TextDecoder().decode(body.bytes) : body.text, text, `read ${show(path)}`);
    }
  });

  test("contents carry the URI as the caller wrote it", async () => {
    for (const form of spellingsOf(uriOf(aFile))) {
      const { contents } = await read(form);
      expectEqual(
        contents.map(({ uri }) => uri),
        [form],
        `the URI of the content of ${form}`,
      );
    }
  });

  test("returns the lines that a query names, of every text", async () => {
    for (const [path, text] of texts) {
      const uri = `${uriOf(path)}?lines=2-3`;
      const lines = text.split(/(?<=\n)/).slice(1, 3);
      if (lines.length === 0) await refusal(read(uri), ["invalid"], `read ${uri}`);
      else {
        const contents = (await read(uri)).contents.map((each) => [each.uri, "text" in each.body && each.body.text]);
        expectEqual(contents, [[uri, lines.join("")]], `read ${uri}`);
        expectEqual((await stat(uri)).uri, uri, `stat ${uri}`);
      }
    }
  });

  test('a missing resource throws "not-found"; it never returns an empty array', async () => {
    for (const path of missing) await refusal(read(uriOf(path)), ["not-found"], `read ${show(path)}`);
    for (const uri of ["no-such-scheme://x/y", "relative", `${uriOf(aFile)}?no-such-query=1`])
      await refusal(read(uri), ["not-found", "invalid"], `read ${uri}`);
  });

  test("states how long the content stays fresh, and for whom", async () => {
    for (const { ttlMs, scope } of [await read(uriOf(aFile)), resources().listFreshness]) {
      expectTrue(ttlMs >= 0, `\`ttlMs\` is ${ttlMs}`);
      expectTrue(["public", "private"].includes(scope), `\`scope\` is ${show(scope)}`);
    }
  });

  test("a call whose signal is already aborted returns or fails, and never hangs", async () => {
    context.abort();
    const list = settled(resources().list({}, call()), "list");
    for (const result of await Promise.allSettled([read(uriOf(aFile)), list]))
      if (result.status === "rejected" && result.reason instanceof WaitError) throw result.reason;
  });
}

function testStats({ list, missing, stat, test, uriOf }: ResourcesContext): void {
  test("agrees with the list", async () => {
    for (const resource of await list()) {
      const { uri } = resource;
      expectEqual(withoutMeta(await stat(uri)), withoutMeta(resource), `stat ${uri}, compared with the list`);
    }
  });

  test('a missing resource throws "not-found"', async () => {
    for (const path of missing) await refusal(stat(uriOf(path)), ["not-found"], `stat ${show(path)}`);
  });
}

/** Metadata added by the server may differ between responses. */
function withoutMeta({ meta: _meta, ...resource }: Resource): Omit<Resource, "meta"> {
  return resource;
}
