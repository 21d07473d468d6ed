import { describe, expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import type { Call, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createMemory } from "../sources/memory.ts";
import { createClock } from "../testing/clock.ts";
import { gather } from "./gather.ts";
import type { Pack } from "./pack.ts";

const call: Call = { caller: { id: "reader" }, signal: new AbortController().signal };
const base = "memory://notes/";

type Files = Readonly<Record<string, string>>;

function resourcesOf(files: Files, at = base): Resources {
  const mount = { name: "notes", base: at, source: createMemory(files).source };
  const runtime = createClock().runtime;
  return createResources({ mounts: [mount], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
}

const pack = (files: Files, task: string, budget = 2000): Promise<Pack> =>
  gather(resourcesOf(files), { task, budget }, call);

const pathOf = (uri: string): string => decodeURIComponent(uri.slice(base.length));
const pathsIn = ({ items }: Pack): readonly string[] => [...new Set(items.map(({ uri }) => pathOf(uri)))];
const textOf = ({ items }: Pack, path: string): string =>
  items
    .filter(({ uri }) => pathOf(uri) === path)
    .map(({ text }) => text)
    .join("\n");
const tokensOf = ({ receipt }: Pack, path: string): number =>
  receipt.included.filter(({ uri }) => pathOf(uri) === path).reduce((sum, { tokens }) => sum + tokens, 0);

const reasonsIn = ({ receipt }: Pack): string => receipt.included.flatMap(({ why }) => why).join("; ");

/** Functions of about 60 tokens each, none of which speaks of anything else. */
const functions = (count: number, name: string): string =>
  Array.from(
    { length: count },
    (_, at) =>
      `/** Prepares the ${name} number ${at} for whoever needs it. */\nexport function ${name}${at}(value: number): number {\n  const doubled = value * ${at};\n  return doubled + ${at};\n}\n`,
  ).join("\n");

const testCases = (name: string): string =>
  Array.from(
    { length: 24 },
    (_, at) =>
      `it("${name} ${at}: the timeout of the request helper ends the request", async () => {\n  const timeout = ${at};\n  await expect(request(helper, { timeout })).rejects.toThrow("timeout of the request");\n});\n`,
  ).join("\n");

describe("the implementation and its test", () => {
  const helper = `${functions(24, "wrap")}\n/** Ends the request after a timeout. */\nexport function withTimeout(ms: number): void {\n  const timer = setTimeout(stop, ms);\n  timer.unref();\n}\n\n${functions(24, "pass")}`;
  it.each([
    ["The timeout in the request helper is never cleared"],
    ["request-helper.ts のタイムアウト (timeout) が解除されない"],
  ])("come in this order: %s", async (task) => {
    const files = { "src/request-helper.ts": helper, "src/request-helper.test.ts": testCases("case") };
    const found = await pack(files, task);
    expect(pathsIn(found)[0]).toBe("src/request-helper.ts");
    expect(textOf(found, "src/request-helper.ts")).toContain("export function withTimeout(ms: number): void {");
    expect(tokensOf(found, "src/request-helper.ts")).toBeGreaterThan(tokensOf(found, "src/request-helper.test.ts"));
  });

  it("share the budget the other way round if the task is about tests", async () => {
    const files = { "src/request-helper.ts": helper, "src/request-helper.test.ts": testCases("case") };
    for (const task of ["The tests of the request timeout are flaky", "request の timeout のテストが不安定"]) {
      const found = await pack(files, task);
      expect(tokensOf(found, "src/request-helper.test.ts")).toBeGreaterThan(tokensOf(found, "src/request-helper.ts"));
    }
  });

  it("come in the order of the request if the test was requested", async () => {
    const files = { "src/request-helper.ts": helper, "src/request-helper.test.ts": testCases("case") };
    const ask = { task: "The timeout in the request helper", include: [`${base}src/request-helper.test.ts`] };
    const found = await gather(resourcesOf(files), { ...ask, budget: 2000 }, call);
    expect(pathsIn(found)[0]).toBe("src/request-helper.test.ts");
    expect(tokensOf(found, "src/request-helper.test.ts")).toBeGreaterThan(tokensOf(found, "src/request-helper.ts"));
  });

  it("a test of which only a few lines are included is shown by its name", async () => {
    const files = {
      "src/request-helper.ts": `${helper}\n${functions(60, "timeout")}`,
      "src/request-helper.test.ts": testCases("case"),
    };
    const shown = textOf(
      await pack(files, "The timeout in the request helper is never cleared", 700),
      "src/request-helper.test.ts",
    );
    expect(shown).toMatch(/^it\("case/);
  });
});

const method = (name: string, word: string): string =>
  `  /** Handles the ${word} of the queue with care, and tells nobody about it until it is done. */\n  ${name}(): void {\n    this.${word} = "${word} of the queue";\n    this.count += 1;\n  }\n`;

describe("a passage inside a definition", () => {
  const words = ["apples", "pears", "plums", "grapes", "cherries", "figs", "dates", "limes", "在庫"];
  const text = `export class Warehouse extends Building {\n${words.map((word, at) => method(`handle${at}`, word)).join("\n")}}\n`;

  it.each(["limes", "在庫"])("comes with the first line of its class: %s", async (word) => {
    const found = await pack({ "src/warehouse.ts": text }, word, 200);
    const [signature, ...rest] = found.items;
    expect(signature).toMatchObject({ lines: [1, 1], text: "export class Warehouse extends Building {" });
    expect(rest.map((item) => item.text).join("\n")).toContain(`this.${word}`);
    expect(found.receipt.included[0]!.why).toContain("begins the definition that contains a passage");
  });

  it("shows that line once", async () => {
    const found = await pack({ "src/warehouse.ts": text }, "apples pears figs limes 在庫", 1500);
    expect(found.text.split("class Warehouse")).toHaveLength(2);
  });
});

describe("what the task quotes", () => {
  const long = `${functions(20, "first")}\n/** Reads it. */\nexport function readConfig(path: string): string {\n  if (path === "") throw new Error(\`cannot open the settings of \${path}\`);\n  return path;\n}\n\n${functions(20, "second")}`;
  const line = long.split("\n").findIndex((one) => one.includes("cannot open")) + 1;
  const files = {
    "src/config.ts": long,
    "lib/config.ts": functions(40, "other"),
    "src/report.ts": `${functions(10, "report")}\nexport const failed = "設定を読み込めませんでした";\n`,
    "docs/first.md": "# first\n\nfirst1 first2 first3 value number doubled whoever needs it\n",
  };

  it.each([
    [`TypeError: x is not a function\n    at first1 (/app/src/config.ts:${line}:9)`],
    [`Traceback\n  File "src/config.ts", line ${line}, in first1`],
    [`panic: first\n\tsrc/config.ts:${line} +0x1d`],
    [`at first.Value.doubled(src/config.ts:${line})`],
    [`in C:\\app\\src\\config.ts:line ${line}`],
    [`src/config.ts の ${line} 行目で落ちる`],
  ])("as a line of a file comes first, with the function around it: %j", async (task) => {
    const found = await pack(files, task, 400);
    expect(pathsIn(found)[0]).toBe("src/config.ts");
    expect(textOf(found, "src/config.ts")).toContain("/** Reads it. */\nexport function readConfig");
    expect(reasonsIn(found)).toContain(`has line ${line}, which the task names`);
  });

  it.each([
    ['Users see "cannot open the settings of /etc/first1.json" for the first number', "src/config.ts", "cannot open"],
    ["Error: cannot open the settings of /etc/first1.json, whoever needs it", "src/config.ts", "cannot open"],
    ["「設定を読み込めませんでした」と表示される", "src/report.ts", "設定を読み込めませんでした"],
  ])("as a text comes first: %s", async (task, path, text) => {
    const found = await pack(files, task, 400);
    expect(pathsIn(found)[0]).toBe(path);
    expect(textOf(found, path)).toContain(text);
    expect(reasonsIn(found)).toMatch(/contains the text "[^"]+"/);
  });

  it.each([
    [
      "as a text of tests only comes after a named line",
      "src/config.ts の 3 行目でエラー：「unknown shorthand flag」",
      3,
    ],
    ["as a text of tests only comes after a named line", 'src/config.ts:3: it says "unknown shorthand flag"', 3],
    ["as a text of a test comes after the same text elsewhere", 'it says "cannot open the settings of /etc/x"', line],
  ])("%s: %s", async (_, task, first) => {
    const cases = ["unknown shorthand flag", "cannot open the settings of"].map((text) =>
      Array.from({ length: 4 }, (__, at) => `it("${at} says ${text}", () => {\n  expect(run(${at})).toThrow();\n});\n`),
    );
    const tested = { ...files, "src/config.test.ts": cases.flat().join("\n") };
    const found = await pack(tested, task, 400);
    expect(pathsIn(found)[0]).toBe("src/config.ts");
    const lines = found.items.filter(({ uri }) => pathOf(uri) === "src/config.ts").map((item) => item.lines);
    expect(lines.some(([from, to]) => from <= first && first <= to)).toBe(true);
    expect(reasonsIn(found)).toMatch(/has line 3|contains the text "cannot/);
  });

  it("as a name comes first where it is defined", async () => {
    const uses = Array.from({ length: 12 }, (_, at) => [
      `src/use${at}.ts`,
      `readConfig(readConfig("${at}"));\n`.repeat(3),
    ]);
    const found = await pack({ ...files, ...Object.fromEntries(uses) }, "readConfig is slow", 400);
    expect(pathsIn(found)[0]).toBe("src/config.ts");
    expect(textOf(found, "src/config.ts")).toContain("export function readConfig");
    expect(reasonsIn(found)).toContain('defines "readConfig"');
  });
});

describe("the path", () => {
  const above = "file:///srv/tests/kettle/";
  const files = {
    "src/stove.py": `def heat():\n    """Heats the kettle."""\n    return "stove.py"\n`,
    "src/lid.py": `def close():\n    """Closes the kettle."""\n`,
    "scripts/install": "install the stove\n",
    "tests/test_stove.py": "def test_heat():\n    assert heat\n",
  };

  it.each([["roots", [above]] as const, ["their common folder", []] as const])(
    "begins below the root of the mount, known by %s",
    async (_, roots) => {
      const task = 'the kettle stove fails\n  File "/app/kettle/src/stove.py", line 2, in heat';
      const { receipt } = await gather(resourcesOf(files, above), { task, budget: 2000, roots }, call);
      const why = new Map(receipt.included.map((one) => [one.uri.slice(above.length), one.why.join("; ")]));
      expect([...why.keys()][0]).toBe("src/stove.py");
      expect(why.get("src/stove.py")).toContain('stove.py has a matching name: "stove"');
      expect(why.get("scripts/install")).toBe('contains "stove"');
      expect([...why.values()].join("; ")).not.toMatch(/"(?:py|src)"|name: [^;]*"kettle"/);
    },
  );
});

describe("words that carry grammar only", () => {
  it("are neither reasons nor scores", async () => {
    const files = {
      "a.md": "# Notes\n\nThe kettle.\n",
      "b.md": `# Notes\n\n${"It is the one to be used, and this is how to do it. ".repeat(9)}\n`,
    };
    const found = await pack(files, "how to fix the noise that a kettle is making");
    expect(pathsIn(found)[0]).toBe("a.md");
    const reasons = reasonsIn(found);
    expect(reasons).toContain('"kettle"');
    expect(reasons).not.toMatch(/"(?:the|to|a|is|that|how|fix)"/i);
  });

  it("are neither reasons nor scores in Japanese", async () => {
    const files = {
      "a.md": "# 覚書\n\n決済の再試行。\n",
      "b.md": `# 覚書\n\n${"これはそのようにすることができますので、そうしてください。".repeat(9)}\n`,
    };
    const found = await pack(files, "決済をするときに再試行してください");
    expect(pathsIn(found)[0]).toBe("a.md");
    const reasons = reasonsIn(found);
    expect(reasons).toContain('"決済"');
    expect(reasons).toContain('"再試行"');
    expect(reasons).not.toMatch(/"(?:する|して|くだ|ださ|さい|をす|とき)"/);
  });

  it.each(["the", "what is this", "これ", "してください", "???"])("are not searched alone: %s", async (task) => {
    const files = { "a.md": `# What\n\nWhat is this? The one. ${task}\n`, "b.md": "# Other\n" };
    expect(await pack(files, task)).toMatchObject({ text: "", items: [] });
    const found = await gather(resourcesOf(files), { task, include: [`${base}b.md`] }, call);
    expect(pathsIn(found)).toEqual(["b.md"]);
  });

  it.each(["fix", "を直す"])("are not all words of every task: %s", async (task) => {
    expect(pathsIn(await pack({ "a.md": "# Fix\n\nFix 不具合を直す。\n", "b.md": "# Other\n" }, task))).toEqual([
      "a.md",
    ]);
  });
});

describe("the budget", () => {
  it("is spent on whole short files before parts of long ones", async () => {
    const requirements = Array.from({ length: 25 }, (_, at) => `dependency-${at}==1.${at}`).join("\n");
    const lock = Array.from({ length: 3000 }, (_, at) => `"dependency-${at}": "1.${at}"`).join("\n");
    const found = await pack(
      { "requirements.txt": requirements, "any.lock": lock },
      "update each dependency of requirements.txt",
    );
    expect(textOf(found, "requirements.txt")).toBe(requirements);
  });

  it("includes the newest entries of a changelog", async () => {
    const entries = Array.from(
      { length: 90 },
      (_, at) => `## 1.${90 - at}\n\n- The kettle of release ${at} boils ${"slowly ".repeat(40)}.\n`,
    );
    const found = await pack(
      { "CHANGELOG.md": `# Changes\n\n${entries.join("\n")}`, "kettle.md": "# Kettle\n\nThe kettle boils.\n" },
      "the kettle boils",
    );
    expect(textOf(found, "CHANGELOG.md")).toContain("## 1.90");
  });

  const kettleTask = "kettle.md: the kettle thermostat switches late, and boils over its loose lid";
  const kettle = "# Kettle\n\nThe kettle boils over: its thermostat switches too late, and the lid is loose.\n";
  const withOthers = (count: number, more = 0) => ({
    ...Object.fromEntries(
      Array.from({ length: count }, (_, at) => [
        `other/${at}.md`,
        `# Other ${at}\n\nA lid.\n${`The kettle ${at} boils over.\n`.repeat(more)}`,
      ]),
    ),
    "list.md": `# List\n\nA lid.\n\n${Array.from({ length: 3000 }, (_, at) => `Entry ${at} of a list.\n`).join("\n")}`,
    "kettle.md": kettle,
  });

  it("is not spent on what is hardly relevant, and the receipt says so", async () => {
    const found = await pack(withOthers(10), kettleTask, 16_000);
    expect(pathsIn(found)[0]).toBe("kettle.md");
    expect(found.tokens).toBeLessThan(8000);
    expect(found.receipt).toMatchObject({ belowFloor: 1, leftOut: [], moreLeftOut: 0, hasAllRelevant: true });
  });

  it("is not said to hold all that is relevant if there are more hits than are read", async () => {
    const { receipt } = await pack(withOthers(120), kettleTask, 16_000);
    expect(receipt.hasAllRelevant).toBe(false);
  });

  it("is not said to hold all that is relevant if texts are shortened", async () => {
    const { receipt } = await pack(withOthers(8, 40), kettleTask, 1500);
    expect(receipt).toMatchObject({ belowFloor: 1, leftOut: [], moreLeftOut: 0, hasAllRelevant: false });
  });
});
