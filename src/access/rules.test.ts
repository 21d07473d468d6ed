import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Caller } from "../resources.ts";
import { type AccessRule, createRulesPolicy } from "./rules.ts";

const aki: Caller = { id: "aki", groups: ["support"] };
const bot: Caller = {
  id: "bot",
  groups: ["bots"],
  scopes: ["docs.read"],
  claims: { dept: ["sales", "it"], site: "tokyo" },
};

function visible(rules: readonly AccessRule[], caller: Caller, mount: string, paths: readonly string[]): string[] {
  const policy = createRulesPolicy(rules);
  return paths.filter((path) => policy.maySee(caller, mount, { path }));
}

describe("access rules", () => {
  it("hide everything that no rule allows", () => {
    expect(visible([], aki, "docs", ["", "a.md"])).toEqual([]);
    expect(visible([{ allow: ["group:support"] }], bot, "docs", ["", "a.md"])).toEqual([]);
  });

  it("name callers, groups, scopes and claims", () => {
    const seenBy = (subject: string) =>
      [aki, bot].filter((caller) => createRulesPolicy([{ allow: [subject] }]).maySee(caller, "m", { path: "a" }));
    expect(seenBy("anyone")).toEqual([aki, bot]);
    expect(seenBy("caller:aki")).toEqual([aki]);
    expect(seenBy("group:bots")).toEqual([bot]);
    expect(seenBy("scope:docs.read")).toEqual([bot]);
    expect(seenBy("claim:dept=it")).toEqual([bot]);
    expect(seenBy("claim:site=tokyo")).toEqual([bot]);
    for (const unknown of ["aki", "user:aki", "claim:site", "claim:site=toky", "group:", ""])
      expect(seenBy(unknown)).toEqual([]);
  });

  it("let the owner see everything", () => {
    expect(visible([{ deny: ["anyone"] }], { id: "me", owner: true }, "m", ["", "a"])).toEqual(["", "a"]);
  });

  it("cover what is below a pattern, and show the folders above it", () => {
    const rules = [{ allow: ["anyone"], mounts: ["docs"], paths: ["team/手順"] }];
    const paths = ["", "team", "team/手順", "team/手順/深い/x.md", "team/other.md", "teams", "top.md"];
    expect(visible(rules, aki, "docs", paths)).toEqual(["", "team", "team/手順", "team/手順/深い/x.md"]);
    expect(visible(rules, aki, "other", paths)).toEqual([]);
  });

  it("do not show a name behind a wildcard as a folder", () => {
    const rules = [{ allow: ["anyone"], paths: ["a/*/public"] }];
    expect(visible(rules, aki, "m", ["a", "a/secret.txt", "a/x/public", "a/x/public/y"])).toEqual([
      "a",
      "a/x/public",
      "a/x/public/y",
    ]);
  });

  it("deny in any spelling of a name", () => {
    const rules: AccessRule[] = [{ allow: ["anyone"] }, { deny: ["group:support"], paths: ["**/Secrets", "が.md"] }];
    const paths = ["a/secrets/key", "a/SECRETS", "secretly", "か\u3099.md", "が.md"];
    expect(visible(rules, aki, "m", paths)).toEqual(["secretly"]);
    expect(visible(rules, bot, "m", paths)).toEqual(paths);
  });

  it("about files hold for every address that shows them", () => {
    const rules: AccessRule[] = [{ allow: ["anyone"] }, { deny: ["caller:aki"], files: ["/srv/work/secrets"] }];
    const policy = createRulesPolicy(rules);
    const seen = (caller: Caller, path: string, isWhole = false) =>
      policy.maySee(caller, "any", { path: "blob/main/x" }, [{ path, isWhole }]);
    expect(seen(aki, "/srv/work/secrets/key")).toBe(false);
    expect(seen(aki, "/srv/work/SECRETS")).toBe(false);
    expect(seen(aki, "/srv/work/secretly")).toBe(true);
    // A commit of the repository may show the secret, one of a folder beside it may not.
    expect(seen(aki, "/srv/work", true)).toBe(false);
    expect(seen(aki, "/srv/work/docs", true)).toBe(true);
    expect(seen(bot, "/srv/work", true)).toBe(true);
    expect(policy.maySee(aki, "any", { path: "x" }, [{ path: "/srv/work/a" }, { path: "/srv/work/secrets/a" }])).toBe(
      false,
    );
  });

  it("that allow files show the folders above them, and nothing that may come from elsewhere", () => {
    const policy = createRulesPolicy([{ allow: ["anyone"], files: ["/srv/work/docs/**"] }]);
    const seen = (path: string, isWhole = false) => policy.maySee(aki, "any", { path: "" }, [{ path, isWhole }]);
    expect(seen("/srv/work")).toBe(true);
    expect(seen("/srv/work/docs/a.md")).toBe(true);
    expect(seen("/srv/work/other.md")).toBe(false);
    expect(seen("/srv/work", true)).toBe(false);
    expect(policy.maySee(aki, "table", { path: "" })).toBe(false);
  });

  it("permit writing only where a rule says so", () => {
    const policy = createRulesPolicy([{ allow: ["anyone"] }, { allow: ["caller:aki"], mounts: ["wall"], write: true }]);
    const writers = (mount: string) =>
      [aki, bot, { id: "me", owner: true }].filter((each) => policy.mayWrite(each, mount));
    expect(writers("wall").map(({ id }) => id)).toEqual(["aki", "me"]);
    expect(writers("other").map(({ id }) => id)).toEqual(["me"]);
  });

  it("say which rule decided", () => {
    const policy = createRulesPolicy([{ allow: ["anyone"] }, { deny: ["caller:aki"], paths: ["x"] }]);
    expect(policy.explain(aki, "m", { path: "x/y" })).toEqual({ isAllowed: false, rule: 1 });
    expect(policy.explain(aki, "m", { path: "y" })).toEqual({ isAllowed: true, rule: 0 });
    expect(createRulesPolicy([]).explain(aki, "m", { path: "y" })).toEqual({ isAllowed: false });
  });

  it("decide like a search through all rules, for any order of questions", () => {
    const name = fc.constantFrom("a", "b", "B", "c.md");
    const path = fc.array(name, { maxLength: 4 }).map((names) => names.join("/"));
    const pattern = fc
      .array(fc.oneof(name, fc.constantFrom("*", "**", "?")), { minLength: 1, maxLength: 3 })
      .map((names) => names.join("/"));
    const rule = fc.record({
      who: fc.constantFrom("allow", "deny"),
      patterns: fc.array(pattern, { minLength: 1, maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 5 }), fc.array(path, { minLength: 1, maxLength: 12 }), (given, paths) => {
        const rules = given.map(({ who, patterns }) => ({ [who]: ["anyone"], paths: patterns }) as AccessRule);
        const policy = createRulesPolicy(rules);
        for (const each of paths) expect(policy.maySee(aki, "m", { path: each })).toBe(plainly(given, each));
      }),
    );
  });

  it("say which files a caller may see where a source shows many", () => {
    const policy = createRulesPolicy([
      { allow: ["group:support"], mounts: ["history"] },
      { allow: ["anyone"], files: ["/team/docs/**/*.md", "/team/docs/plan/a.txt"] },
      { deny: ["anyone"], files: ["/team/docs/secret"] },
    ]);
    const log = { path: "log" };
    const files = ["/team/a.txt", "/team/docs/deep/b.md", "/team/docs/secret/c.md", "/team/docs/plan"];
    const seen = (caller: Caller, mount = "history") =>
      files.filter((path) => policy.filesFor(caller, mount, log)?.maySee({ path, isFile: true }));
    expect(seen(aki)).toEqual(["/team/a.txt", "/team/docs/deep/b.md", "/team/docs/plan"]);
    expect(seen(bot)).toEqual(["/team/docs/deep/b.md"]);
    expect(seen(aki, "other")).toEqual(seen(bot));
    const own = policy.filesFor(bot, "history", log)!;
    expect(own.maySee({ path: "/team/docs/plan" }), "a folder on the way").toBe(true);
    expect(["/team/docs/deep", "/team/docs/secret", "/other"].map((path) => own.mayHold(path))).toEqual([
      true,
      false,
      false,
    ]);
    expect(policy.maySee(bot, "history", log, [{ path: "/team", isWhole: true }])).toBe(false);
    expect(policy.maySee(bot, "history", log, [{ path: "/team", isWhole: true, isFiltered: true }])).toBe(true);
    expect(policy.filesFor({ id: "me", owner: true }, "history", log)).toBeUndefined();
    expect(policy.filesFor({ ...bot }, "history", log), "the same rules, the same object").toBe(own);
  });
});

/** The same decision, without any preparation. */
function plainly(rules: readonly { who: string; patterns: readonly string[] }[], path: string): boolean {
  const names = path === "" ? [] : path.split("/");
  const covered = (pattern: string, fold: boolean) => {
    const wanted = (fold ? pattern.toLowerCase() : pattern).split("/");
    const own = fold ? names.map((each) => each.toLowerCase()) : names;
    return own.some((_, index) => fits(wanted, own.slice(0, index + 1))) || fits(wanted, []);
  };
  if (rules.some(({ who, patterns }) => who === "deny" && patterns.some((each) => covered(each, true)))) return false;
  return rules.some(
    ({ who, patterns }) =>
      who === "allow" &&
      (path === "" ||
        patterns.some((each) => covered(each, false) || (each.startsWith(`${path}/`) && !/[*?]/.test(path)))),
  );
}

function fits([first, ...others]: readonly string[], names: readonly string[]): boolean {
  if (first === undefined) return names.length === 0;
  if (first === "**") return fits(others, names) || (names.length > 0 && fits([first, ...others], names.slice(1)));
  const [name, ...rest] = names;
  if (name === undefined) return false;
  const isSame = first === "*" || (first === "?" ? name.length === 1 : first === name);
  return isSame && fits(others, rest);
}
