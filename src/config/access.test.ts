import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { loadConfig } from "./load-config.ts";
import { ConfigError } from "./problem.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Loads a config with these lines. */
async function load(text: string, named = true) {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-access-"));
  folders.push(folder);
  const file = join(folder, "pressmark.yaml");
  writeFileSync(file, `mounts:\n  docs: { source: file, root: . }\n${text}`);
  const loaded = await loadConfig({ file, named }, { from: folder, env: {}, stateFolder: join(folder, "state") });
  if ("untrusted" in loaded) throw new Error("needs trust as a whole");
  return loaded.config;
}

async function problemsOf(text: string): Promise<readonly string[]> {
  const cause = await load(text).catch((error: unknown) => error);
  if (!(cause instanceof ConfigError)) throw new Error("the config has no problem");
  return cause.lines;
}

describe("callers and rules of a config", () => {
  it("are read with their names", async () => {
    const { access, shown } = await load(
      "callers:\n  aki: { groups: [support] }\n  me: { owner: true }\nrules:\n  - { allow: [group:support], mounts: [docs], paths: [public] }\n  - { deny: [caller:aki], paths: ['**/秘密'] }\n",
    );
    expect(access).toEqual({
      callers: [
        { name: "aki", groups: ["support"] },
        { name: "me", owner: true },
      ],
      rules: [
        { allow: ["group:support"], mounts: ["docs"], paths: ["public"] },
        { deny: ["caller:aki"], paths: ["**/秘密"] },
      ],
    });
    expect(shown).toMatchObject({ callers: { aki: { groups: ["support"] } }, rules: { length: 2 } });
  });

  it("are empty without them", async () => {
    expect((await load("")).access).toEqual({ callers: [], rules: [] });
  });

  it.each([
    ["rules:\n  - { mounts: [docs] }\n", 'must have either "allow" or "deny"'],
    ["rules:\n  - { allow: [anyone], deny: [anyone] }\n", 'must have either "allow" or "deny"'],
    ["rules:\n  - { allow: [everyone] }\n", '"everyone" names nobody'],
    ["rules:\n  - { allow: ['claim:dept'] }\n", '"claim:dept" names nobody'],
    ["callers: { aki: {} }\nrules:\n  - { allow: ['caller:akj'] }\n", 'did you mean "aki"?'],
    ["rules:\n  - { allow: [anyone], mounts: [dosc] }\n", 'there is no mount "dosc"; did you mean "docs"?'],
    ["rules:\n  - { allow: [anyone], paths: [/secrets] }\n", "must not begin or end with a slash"],
    ["rules:\n  - { allow: [anyone], paths: [a/../b] }\n", 'must not contain "." or ".."'],
    ["rules:\n  - { allow: [anyone], files: [a], paths: [b] }\n", "cannot be combined"],
    ["rules:\n  - { deny: [anyone], write: true }\n", 'works only with "allow"'],
    ["rules:\n  - { allow: [anyone], paths: [a], write: true }\n", "holds for whole mounts"],
    ["rules:\n  - { alow: [anyone] }\n", 'did you mean "allow"?'],
    ["callers: { owner: {} }\n", "is a name that the server uses itself"],
    ["callers: { 'a b': {} }\n", "a caller's name must begin"],
    ["callers: { aki: { groups: support } }\n", "must be"],
  ])("with a problem stop the config: %j", async (text, message) => {
    expect((await problemsOf(text)).join("\n")).toContain(message);
  });

  it("of a config that was found need trust, and until then nobody is let in", async () => {
    const config = await load("callers: { aki: {} }\nrules:\n  - { allow: [anyone] }\n", false);
    expect(config.access).toBeUndefined();
    expect(config.withheld.map(({ part, reasons }) => [part, reasons])).toEqual([
      ["callers", ['lets "aki" sign in']],
      ["rules", ["decides who may see what, by 1 rule"]],
    ]);
  });
});

describe("quotas of a config", () => {
  it("need no trust, because they only restrict", async () => {
    const text = 'quotas:\n  anyone: { requestsPerMinute: 600 }\n  caller:local: { listens: "unlimited" }\n';
    const { quotas, withheld, shown } = await load(text, false);
    expect(quotas).toEqual({ anyone: { requestsPerMinute: 600 }, "caller:local": { listens: "unlimited" } });
    expect(withheld).toEqual([]);
    expect(shown).toMatchObject({ quotas });
  });

  it.each([
    ["quotas: { default: {} }\n", '"default" names nobody'],
    ["callers: { aki: {} }\nquotas: { 'caller:akj': {} }\n", 'did you mean "aki"?'],
    ["quotas: { anyone: { requestsPerMinute: 0 } }\n", "must be at least 1"],
    ["quotas: { anyone: { requestPerMinute: 5 } }\n", 'did you mean "requestsPerMinute"?'],
    ["quotas: { anyone: { listens: many } }\n", "must be a number"],
  ])("are refused: %j", async (text, message) => {
    expect(await problemsOf(text)).toEqual([expect.stringContaining(message)]);
  });
});
