/** Every requirement that binds the server is held by a test that names it, and no test names one that does not exist. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { citedIn } from "./citations.ts";
import { bindsTheServer, requirements } from "./requirements.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const cited = await citedBy(["src", "test"]);

describe("the requirements", () => {
  it("have one row each, numbered without a gap", () => {
    const counts = Map.groupBy(requirements, ({ id }) => id.split("-")[0]);
    expect([...counts].map(([prefix, rows]) => [prefix, rows.length])).toEqual([
      ["S3", 14],
      ["LEG", 72],
      ["MOD", 74],
      ["SKL", 20],
    ]);
  });

  it("that bind a server have a test that names them", () => {
    const unheld = requirements.filter((row) => bindsTheServer(row) && !cited.has(row.id));
    expect(unheld.map(({ id, sentence }) => `${id}: ${sentence}`)).toEqual([]);
  });

  it("that a test names exist", () => {
    const known = new Set(requirements.map(({ id }) => id));
    expect([...cited].filter(([id]) => !known.has(id))).toEqual([]);
  });

  it("that bind others say why they wait", () => {
    const bound = new Set(["server", "both"]);
    expect(requirements.filter(({ party, later }) => !bound.has(party) && later === undefined)).toEqual([]);
  });
});

describe("a citation", () => {
  // Put together here, so that this file cites nothing by accident.
  const id = ["LEG", "21"].join("-");

  it("stands in a title or in a covers call", () => {
    expect(citedIn(`it("a wrong cursor is refused (${id})", () => {});`)).toEqual([id]);
    expect(citedIn(`describe.for(rows)(\`over %s (${id})\`, () => {});`)).toEqual([id]);
    expect(citedIn(`covers("${id}");`)).toEqual([id]);
  });

  it("does not stand in a comment, in a skipped test or in any other string", () => {
    expect(citedIn(`// ${id}\nconst x = "${id}"; expect("${id}"); it.skip("${id}", () => {});`)).toEqual([]);
  });
});

async function citedBy(sampleContents: readonly string[]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const room of sampleContents)
    for (const name of await readdir(join(root, room), { recursive: true })) {
      if (!name.endsWith(".test.ts")) continue;
      for (const id of citedIn(await readFile(join(root, room, name), "utf8")))
        found.set(id, [...(found.get(id) ?? []), join(room, name)]);
    }
  return found;
}
