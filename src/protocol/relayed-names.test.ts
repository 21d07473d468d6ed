import { describe, expect, it } from "vitest";
import { nameAll } from "./relayed-names.ts";

const names = (all: readonly { mount: string; name: string }[], taken: readonly string[] = []) =>
  nameAll(all, taken).map(([name]) => name);

describe("names of tools of other servers", () => {
  it("are the mount and the tool", () => {
    expect(names([{ mount: "tickets", name: "find.by-id" }])).toEqual(["tickets_find.by-id"]);
  });

  it("are valid and stable whatever the server calls them", () => {
    const odd = [
      { mount: "書類", name: "探す" },
      { mount: "a b", name: "x/y" },
      { mount: "m", name: "n".repeat(200) },
      { mount: "m", name: `${"n".repeat(200)}2` },
    ];
    const found = names(odd);
    // Alone, each has the same name.
    expect(found).toEqual(odd.map((each) => names([each])[0]));
    expect(new Set(found).size).toBe(odd.length);
    for (const name of found) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/);
  });

  it("are never those of other tools", () => {
    const all = [
      { mount: "a_b", name: "c" },
      { mount: "a", name: "b_c" },
      { mount: "search", name: "resources" },
    ];
    const found = names(all, ["search_resources"]);
    expect(found).toEqual([
      "a_b_c",
      expect.stringMatching(/^a_b_c-[0-9a-f]{8}$/),
      expect.stringMatching(/^search_resources-/),
    ]);
  });
});
