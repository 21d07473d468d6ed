/** What `pressmark search` says about results that match and results that are only similar. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSimilarServer, type SimilarServer } from "../../protocol/tools/test-similar.ts";
import { createStand, type RunOptions, type Stand } from "../test-command.ts";

let stand: Stand;
let far: SimilarServer;

beforeAll(async () => {
  stand = createStand();
  far = await openSimilarServer();
});
afterAll(async () => {
  await far.close();
  stand.remove();
});

const find = (words: readonly string[], options?: RunOptions) =>
  stand.run(["search", ...words, "--server", far.url], options);

describe("search", () => {
  it("prints only matches into a pipe", async () => {
    const { code, out, err } = await find(["alpha", "beta"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd().split("\n").toSorted()).toEqual(["both.md:1: beta alpha", "設計/決済.md:1: alpha beta"]);
  });

  it("prints the similar ones after them, if that is wanted", async () => {
    const { code, out, err } = await find(["alpha", "beta", "--similar"]);
    expect({ code, err }).toEqual({ code: 0, err: "pressmark: similar:\n" });
    expect(out.split("\n").slice(0, 2).toSorted()).toEqual(["both.md:1: beta alpha", "設計/決済.md:1: alpha beta"]);
    expect(out).toMatch(/\none\.md:1: alpha\n$/);
  });

  it("shows them on a terminal under a heading", async () => {
    const { code, out, err } = await find(["alpha", "beta"], { terminal: true });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/\n\nsimilar:\n\none\.md:1\n {4}alpha\n\n$/);
  });

  it("says nothing of similar results if there are none", async () => {
    expect(await find(["alpha"])).toMatchObject({ code: 0, err: "" });
    expect((await find(["alpha"], { terminal: true })).out).not.toContain("similar");
  });

  it.each([{}, { terminal: true }])(
    "says that nothing matches, prints what is similar, and exits with 3: %j",
    async (options) => {
      const { code, out, err } = await find(["beta", "gamma"], options);
      expect({ code, err }).toEqual({ code: 3, err: 'pressmark: no match for "beta gamma"; similar:\n' });
      expect(out).toContain("設計/決済.md:1");
      expect(out).toContain("both.md:1");
      expect(out).not.toContain("similar");
    },
  );

  it("repeats a long query up to a whole character, and shows what it hides", async () => {
    const { err } = await find(["beta", "𠮷".repeat(100)]);
    expect(err).toBe(`pressmark: no match for "beta ${"𠮷".repeat(57)}…"; similar:\n`);
    expect((await find(["beta", "\u202e決済\u009b"])).err).toContain(String.raw`"beta \u202e決済\x9b"; similar:`);
  });

  it("gives JSON that says of each result whether it matches, with its URI", async () => {
    const { code, out, err } = await find(["alpha", "beta", "--json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const hits = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { resource: { uri: string }; isMatch: boolean });
    expect(hits.map(({ isMatch }) => isMatch)).toEqual([true, true, false]);
    expect(hits.map(({ resource }) => resource.uri)).toContain("memory://far/%E8%A8%AD%E8%A8%88/%E6%B1%BA%E6%B8%88.md");
    expect(await find(["gamma", "beta", "--json"])).toMatchObject({
      code: 3,
      out: expect.stringContaining('"isMatch":false') as string,
    });
  });

  it("exits with 1 if nothing matches and something could not be searched", async () => {
    far.failure = "the disk is full";
    try {
      const { code, out, err } = await find(["beta", "gamma"]);
      expect(code).toBe(1);
      expect(err).toMatch(/no match for "beta gamma", but not everything could be searched; similar:\n$/);
      expect(out).toContain("both.md:1");
      expect(await find(["alpha", "beta"])).toMatchObject({ code: 0 });
      expect(await find(["gamma"])).toMatchObject({
        code: 1,
        err: expect.stringContaining('no results for "gamma", but not everything could be searched') as string,
      });
    } finally {
      far.failure = undefined;
    }
  });

  it("prints what can be read", async () => {
    const { out } = await find(["beta"]);
    for (const [, path] of out.matchAll(/^(.*?):1: /gm))
      expect(await stand.run(["read", path!, "--server", far.url])).toMatchObject({
        code: 0,
        out: expect.stringContaining("beta") as string,
      });
  });
});
