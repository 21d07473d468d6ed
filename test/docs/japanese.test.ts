/** What the Japanese pages name exists: settings, options, commands, flags, packages, and the words of the picker. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { allCommands } from "../../src/cli/commands/index.ts";
import { createStand } from "../../src/cli/test-command.ts";

const root = join(import.meta.dirname, "../..");
const read = (pattern: string) =>
  globSync(pattern, { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
/** The home page of the site has no counterpart here. */
const pages = globSync("docs/ja/*.md", { cwd: root, exclude: ["docs/ja/README.md"] }).sort();
/** What a name in the pages is compared with. */
const known = [
  ...read("src/**/*.ts"),
  ...read("docs/*.md"),
  ...read("docs/sources/*.md"),
  ...read("docs/pressmark.schema.json"),
  ...read("package.json"),
].join("\n");
const picker = [...read("src/picker/*.{ts,tsx}"), ...read("src/lib/host-use-texts.ts")].join("\n");
const schema = JSON.parse(read("docs/pressmark.schema.json")[0]!) as JsonSchema;
const commands = new Map((await allCommands()).map((command) => [command.name, command]));

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly additionalProperties?: JsonSchema | boolean;
}

describe.each(pages)("%s", (page) => {
  const text = readFileSync(join(root, page), "utf8");
  const prose = text.replaceAll(/^[ \t]*```[^]*?^[ \t]*```$/gm, "");
  const spans = [...new Set(Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, span = ""]) => span))];

  it("begins with a link to the page in English", () => {
    expect(text).toMatch(/^# .+\n\n\[English[^\]]*\]\(\.\.\/[\w./-]+\.md\)/);
  });

  it("names only what exists", () => {
    // Examples contain Japanese, or a space.
    const names = spans.filter((span) => /^[\x21-\x7e]+$/.test(span));
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    const settings = names.filter((name) => /^[a-z]+(?:\.[a-z]+)+$/i.test(name) && isSection(name));
    expect(settings.filter((name) => !isSetting(name.split("."), schema))).toEqual([]);
  });

  it("names only commands and flags that exist", () => {
    const shown = Array.from(text.matchAll(/(?:^|[`(] *|^ *)pressmark ([a-z]+)([^`\n]*)/gm));
    expect(shown.flatMap(([, name = "", words = ""]) => problemOf(name, words) ?? [])).toEqual([]);
  });
});

it("docs/ja/picker.md uses the words of the picker", () => {
  const quoted = readFileSync(join(root, "docs/ja/picker.md"), "utf8").matchAll(/「([^」]+)」|^- \*\*(.+?)。\*\*/gm);
  const words = Array.from(quoted, ([, one, other]) => one ?? other ?? "");
  expect(words.length).toBeGreaterThan(10);
  expect(words.filter((word) => !picker.includes(word))).toEqual([]);
});

describe("what docs/ja/search.md says of Japanese", () => {
  const stand = createStand();
  const decomposed = "見積もりガイド.md".normalize("NFD");
  afterAll(() => stand.remove());
  stand.write(decomposed, "# 見積もり\n\nサクラの手入れ。ﾊﾝｶｸの表記。\n");
  stand.write("会議.md", "# 会議\n\n打ち合わせは月曜日です。返金は翌営業日までにしました。\n");
  stand.write("設定.md", "# 設定\n\n再び設定する。\n");
  stand.write("さくら.md", "さくら\n");
  // "請求書は月末です。" in Shift_JIS.
  stand.write("請求.txt", Buffer.from("90bf8b818f9182cd8c8e969682c582b781420a", "hex"));

  it.each([
    ["見積り", decomposed],
    ["ハンカク", decomposed],
    ["path:ガイド", decomposed],
    ["返金はいつまでですか", "会議.md"],
    ["請求書", "請求.txt"],
    ["表", decomposed],
  ])("%s finds %s", async (query, file) => {
    const { code, out } = await stand.run(["search", query]);
    expect([code, out.split(":")[0]]).toEqual([0, file]);
  });

  it("サクラ finds さくら, after サクラ", async () => {
    const { out } = await stand.run(["search", "サクラ"]);
    expect(out.split("\n").map((line) => line.split(":")[0])).toEqual([decomposed, "さくら.md", ""]);
  });

  it.each(["打合せ", "再設定", "マスタ"])("%s matches nothing here", async (query) => {
    expect((await stand.run(["search", query])).code).toBe(3);
  });

  it("a pattern and a path find a decomposed name, also composed", async () => {
    expect((await stand.run(["ls", "見積*"])).code).toBe(0);
    for (const path of [decomposed, "見積もりガイド.md"]) expect((await stand.run(["read", path])).code).toBe(0);
  });
});

it("finds the pages", () => {
  const names = ["configuration", "install", "picker", "search", "security", "start"];
  expect(pages).toEqual(names.map((name) => `docs/ja/${name}.md`));
});

/** Whether it is a key of the config, not a file. */
function isSection(name: string): boolean {
  return Object.hasOwn(schema.properties ?? {}, name.split(".")[0]!);
}

function isSetting([first, ...rest]: readonly string[], within: JsonSchema): boolean {
  if (first === undefined) return true;
  const inside = within.properties?.[first];
  if (inside && isSetting(rest, inside)) return true;
  return [...(within.anyOf ?? []), ...(within.oneOf ?? [])].some((each) => isSetting([first, ...rest], each));
}

function problemOf(name: string, words: string): string | undefined {
  const command = commands.get(name);
  if (!command) return `there is no command ${name}`;
  const flags = Array.from(words.matchAll(/(?<= )--([a-z-]+)/g), ([, flag = ""]) => flag);
  const unknown = flags.find((flag) => !Object.hasOwn(command.flags, flag));
  return unknown === undefined ? undefined : `${name} has no flag --${unknown}`;
}
