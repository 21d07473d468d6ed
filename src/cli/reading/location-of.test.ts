import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";
import { locationOf } from "./location-of.ts";
import { openResourceAccess, type ReachRoot } from "./resource-access.ts";

function root(base: string, more: Partial<ReachRoot> = {}): ReachRoot {
  return { name: base, base, uri: base.replace(/\/$/, ""), acceptsPaths: false, ...more };
}

describe("the location of a resource", () => {
  const files = root("file:///%E7%A7%81/p/", { acceptsPaths: true });
  const other = { name: undefined, acceptsPaths: true };
  it.each([
    ["a path below the only folder", [files, root("git://p/")], "%E8%A8%AD/a%20b.md", "設/a b.md"],
    [
      "a readable URI below one of several folders",
      [files, root("file:///q/", { acceptsPaths: true })],
      "%E8%A8%AD.md",
      "file:///私/p/設.md",
    ],
    ["a URI where a slash is part of a name", [files], "a%2Fb/%E8%A8%AD", "file:///私/p/a%2Fb/設"],
    ["a URI with a query", [files], "%E8%A8%AD?lines=1-2", "file:///私/p/設?lines=1-2"],
    ["a URI where the name hides something", [files], "%E2%80%AEgpj.md", "file:///私/p/%E2%80%AEgpj.md"],
    ["a URI where the name ends like a line number", [files], "a.md:12", "file:///私/p/a.md%3A12"],
    ["a URI where a name contains a line number", [files], "a:1:2/b", "file:///私/p/a%3A1:2/b"],
    ["a URI where a space is at the edge", [files], "%20a.md", "file:///私/p/%20a.md"],
    ["no flag", [files], "-rf", "./-rf"],
    ["no other URI", [files], "git:x", "./git:x"],
  ] as const)("is %s", (_, roots, rest, location) => expect(locationOf(roots, files.base + rest)).toBe(location));

  it.each([
    ["a path, if that leads to the same URI", "wiki://a/%E8%A8%AD/b%20c", "設/b c"],
    ["its URI, if a path would lead to another one", "wiki://a/b:c", "wiki://a/b:c"],
    ["its URI, if a path would be shortened", "wiki://a/b//c", "wiki://a/b//c"],
    ["its URI with its own escapes", "wiki://a/%e8%a8%ad:12", "wiki://a/%e8%a8%ad:12"],
    ["a path, if that leads to the same file", "file:///p/@a/b%20c+d", "@a/b c+d"],
    ["its URI outside of all roots", "data:%E8%A8%AD", "data:設"],
  ])("at another server is %s", (_, uri, location) =>
    expect(locationOf([{ ...root(uri.startsWith("file:") ? "file:///p/" : "wiki://a/"), ...other }], uri)).toBe(
      location,
    ),
  );
});

describe("what search prints", () => {
  const names = [
    "設計/決済.md",
    "a.md",
    "a.md:12",
    "a.md:12:7",
    "a%2Fb.md",
    "100%.md",
    "空 白　.md",
    " edge.md",
    "-n.md",
    "git:x.md",
    "new\nline.md",
    "\u202egpj.md",
    "\u001b[31mred.md",
    "zero\u200bwidth.md",
    "similar:",
    "家族👨‍👩‍👧.md",
    "e\u0301.md",
    "\u00e9.md",
  ];
  let stand: Stand;
  beforeAll(() => {
    stand = createStand();
    for (const [index, name] of names.entries()) stand.write(name, `quagga ${index}\n`);
    mkdirSync(join(stand.folder, "../more"));
    stand.write("../more/a.md", "quagga elsewhere\n");
  });
  afterAll(() => stand.remove());

  it.each([
    ["one folder", [], /^設計\/決済\.md:1: /m],
    ["several folders", [".", "../more"], /^file:\/\/\/.*\/files\/設計\/決済\.md:1: /m],
  ])("is readable, and accepted as an argument, whatever the names in %s are", async (_, folder, readable) => {
    const { out, err } = await stand.run([
      "search",
      "quagga",
      "-n",
      "50",
      ...folder.flatMap((each) => ["--folder", each]),
    ]);
    expect(err).toBe("");
    expect(out).toMatch(readable);
    const lines = out.trimEnd().split("\n");
    expect(lines).toHaveLength(names.length + (folder.length > 0 ? 1 : 0));
    const call = { caller: { id: "local", owner: true }, signal: new AbortController().signal };
    const context = { folder: stand.folder, env: {}, version: "1" };
    const flags = { folder, config: undefined, server: undefined, header: [] };
    const access = await openResourceAccess(flags, context, { write: () => true });
    const seen = new Set<string>();
    try {
      for (const line of lines) {
        const [, location = "", text = ""] = /^(.*?):1: (quagga \w+)$/.exec(line) ?? [];
        const { contents } = await access.resources.read(await access.locate(location, call), call);
        expect(contents, line).toMatchObject([{ body: { text: `${text}\n` } }]);
        seen.add(text);
      }
    } finally {
      await access.close();
    }
    expect(seen.size).toBe(lines.length);
  });
});
