import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { displayWidth } from "../../lib/display-width.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
const search = (words: readonly string[], options?: Parameters<Stand["run"]>[1]) =>
  stand.run(["search", ...words], options);

beforeAll(() => {
  stand = createStand();
  stand.write("docs/setup.md", "# Setup\n\nFirst of all.\n\n## Password\n\nHow to reset a password, step by step.\n");
  stand.write("docs/設定.md", "# 設定\n\nパスワードを再設定する方法。\n");
  stand.write("src/user.ts", "export function getUserName(): string {\n  return name;\n}\n");
  stand.write("logo.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
});

afterAll(() => stand.remove());

describe("search", () => {
  it("gives a pipe one line each: path, line, text", async () => {
    const { code, out, err } = await search(["reset", "password"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe("docs/setup.md:5: ## Password\n");
  });

  it("finds what is written in Japanese, and parts of names in code", async () => {
    expect((await search(["再設定"])).out).toContain("docs/設定.md:");
    expect((await search(["user name"])).out).toContain("src/user.ts:1:");
  });

  it("shows a terminal the passage, as wide as it is, with the match coloured", async () => {
    const env = { NO_COLOR: "", TERM: "xterm" };
    const { out } = await search(["password"], { terminal: true, columns: 40, env });
    expect(out).toContain("docs/setup.md");
    expect(out).toContain("\u001b[1;31mpassword\u001b[0m");
    const plainly = await search(["password"], { terminal: true, columns: 40 });
    expect(plainly.out).not.toContain("\u001b");
    for (const line of plainly.out.split("\n").filter((each) => each.startsWith("    ")))
      expect(displayWidth(line)).toBeLessThanOrEqual(40);
  });

  it("gives JSON, an object a line", async () => {
    const { out } = await search(["--json", "password"]);
    const hits = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { resource: { uri: string }; snippet: string; marks: [number, number][] });
    const hit = hits.find(({ resource }) => resource.uri === `${stand.base}docs/setup.md`)!;
    expect(hit).toMatchObject({
      resource: { name: "setup.md", mimeType: "text/markdown" },
      lines: expect.any(Array) as [],
    });
    for (const [from, to] of hit.marks) expect(hit.snippet.slice(from, to).toLowerCase()).toBe("password");
  });

  it("stays within a directory, and within a number", async () => {
    expect((await search(["--within", join(stand.folder, "docs"), "getUserName"])).code).toBe(3);
    expect((await search(["--within", "src", "getUserName"])).out).toContain("src/user.ts");
    expect((await search(["--limit", "1", "path:docs"])).out.trimEnd().split("\n")).toHaveLength(1);
  });

  it("takes up what was written since, unless it is not to wait", async () => {
    stand.write("new.md", "A fresh zebra.\n");
    const early = await search(["--no-wait", "zebra"]);
    expect(early.code).toBe(3);
    expect(early.err).toMatch(/the index was last updated \d+ s ago\n.*99 % of the resources are indexed/);
    expect((await search(["--no-wait", "getUserName"])).out).toContain("src/user.ts:1:");
    expect((await search(["zebra"])).out).toContain("new.md:1:");
  });

  it("reports when nothing is found, and when the query is missing", async () => {
    expect(await search(["nothinglikethis"])).toMatchObject({
      code: 3,
      out: "",
      err: 'pressmark: no results for "nothinglikethis"\n',
    });
    expect(await search([])).toMatchObject({
      code: 2,
      err: expect.stringContaining("name what to search for") as string,
    });
    expect(await search(["--within", "nowhere", "tea"])).toMatchObject({ code: 3 });
  });

  it("does not exist if the config disables it", async () => {
    stand.write("off/pressmark.config.yaml", "search: { enabled: false }\n");
    const { code, err } = await search(["--folder", "off", "tea"]);
    expect({ code, err }).toEqual({ code: 1, err: "pressmark: no mount can be searched\n" });
  });
});

describe("index", () => {
  it("shows the status of the index, rebuilds and removes it", async () => {
    const { out } = await stand.run(["index", "--json"]);
    const status = JSON.parse(out) as { place: string; mounts: { name: string; documents: number; ready: number }[] };
    expect(status.mounts).toMatchObject([{ name: "files", ready: 1 }]);
    const { documents } = status.mounts[0]!;
    expect((await stand.run(["index"])).out).toMatch(
      /^files {2}\d+ documents, \d+ passages, complete\nplace {2}.*\nsize {3}.*B\n$/,
    );
    const rebuilt = JSON.parse((await stand.run(["index", "--rebuild", "--json"])).out) as typeof status;
    expect(rebuilt.mounts).toMatchObject([{ documents, ready: 1 }]);
    expect(await stand.run(["index", "--remove"])).toMatchObject({ code: 0, out: "", err: "" });
    expect(await search(["--no-wait", "password"])).toMatchObject({ code: 3 });
    expect(await stand.run(["index", "--remove", "--rebuild"])).toMatchObject({ code: 2 });
  });
});
