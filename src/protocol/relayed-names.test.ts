import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RelayedName } from "../resources.ts";
import { nameAll } from "./relayed-names.ts";

const names = (all: readonly RelayedName[], taken: readonly string[] = []) => nameAll(all, taken).map(([name]) => name);

describe("names of tools of other servers", () => {
  it("are the mount and the tool", () => {
    expect(names([{ mount: "tickets", name: "find.by-id" }])).toEqual(["tickets_find.by-id"]);
  });

  it("are those of the program itself without its mount, unless they could be of another mount", () => {
    const own = { mount: "weather", name: "git_log", isOwn: true } as const;
    expect(names([own])).toEqual(["git_log"]);
    expect(names([{ ...own, mounts: ["weather", "git"] }])).toEqual(["weather_git_log"]);
    expect(names([own], ["git_log"])).toEqual(["weather_git_log"]);
    expect(names([{ ...own, name: "weather_now", mounts: ["weather"] }])).toEqual(["weather_now"]);
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
    expect(names([{ mount: "search", name: "resources" }], ["search_resources"])).toEqual([
      expect.stringMatching(/^search_resources-[0-9a-f]{16}$/),
    ]);
    const [hashed] = names([{ mount: "m", name: "a b" }]);
    // A server can compute the hash of a tool of another server.
    expect(names([{ mount: "m", name: hashed!.slice(2) }])).not.toEqual([hashed]);
  });

  it("are of the mount with the longest name that fits", () => {
    const mounts = ["git", "git_hub"];
    expect(names([{ mount: "git_hub", name: "delete", mounts }])).toEqual(["git_hub_delete"]);
    expect(names([{ mount: "git", name: "hub_delete", mounts }])).toEqual([
      expect.stringMatching(/^git_hub_delete-[0-9a-f]{16}$/),
    ]);
    expect(names([{ mount: "git", name: "hubs", mounts }])).toEqual(["git_hubs"]);
  });

  it("are unique, and the same whichever other servers can be reached", () => {
    const part = fc
      .array(fc.constantFrom("a", "_", "_", "/"), { minLength: 1, maxLength: 4 })
      .map((all) => all.join(""));
    const servers = fc.dictionary(part, fc.uniqueArray(part, { maxLength: 5 }), { maxKeys: 5 });
    fc.assert(
      fc.property(servers, fc.func(fc.boolean()), (tools, isReached) => {
        const mounts = Object.keys(tools);
        const all = mounts.flatMap((mount) => tools[mount]!.map((name) => ({ mount, name, mounts })));
        const found = nameAll(all, []);
        expect(found).toHaveLength(all.length);
        const some = all.filter(({ mount }) => isReached(mount));
        expect(nameAll(some, [])).toEqual(found.filter(([, { mount }]) => isReached(mount)));
      }),
      { numRuns: 1000 },
    );
  });
});
