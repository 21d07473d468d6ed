import { describe, expect, it } from "vitest";
import { parseArguments } from "./arguments.ts";
import {
  defineCommand,
  flag,
  listFlag,
  many,
  one,
  optional,
  optionalTextFlag,
  UsageError,
  valueFlag,
} from "./command.ts";

const press = defineCommand({
  name: "press",
  summary: "Press something",
  takes: { what: "the thing", how: optional("the way") },
  flags: {
    hard: flag("with force", { short: "f" }),
    times: valueFlag("COUNT", "how often", {
      short: "n",
      initial: 1,
      parse: (text) => {
        if (!/^\d+$/.test(text)) throw new UsageError("takes a number");
        return Number(text);
      },
    }),
    ink: listFlag("COLOUR", "an ink"),
  },
  run: async () => {},
});
const gather = defineCommand({
  name: "gather",
  summary: "Gather",
  takes: { thing: many("things") },
  flags: { since: optionalTextFlag("REF", "since a commit") },
  run: async () => {},
});
const choose = defineCommand({
  name: "choose",
  summary: "Choose",
  takes: { shell: one("a shell", ["bash", "fish"]) },
  run: async () => {},
});

function given(...words: string[]): unknown {
  const parsed = parseArguments(press, words);
  return parsed.help ? "help" : parsed.given;
}

function complaint(command: Parameters<typeof parseArguments>[0], ...words: string[]): string {
  try {
    parseArguments(command, words);
  } catch (cause) {
    expect(cause).toBeInstanceOf(UsageError);
    return (cause as Error).message;
  }
  return "no complaint";
}

describe("the words after a command", () => {
  it("fill places in order, and what is absent has its initial value", () => {
    expect(given("flower")).toEqual({
      what: "flower",
      how: undefined,
      flags: { hard: false, times: 1, ink: [], quiet: false, verbose: false },
    });
    expect(given("flower", "flat")).toMatchObject({ what: "flower", how: "flat" });
  });

  it.each([["--times", "3"], ["--times=3"], ["-n", "3"], ["-n3"], ["-n=3"], ["--times", "1", "--times", "3"]])(
    "set a flag with a value, spelled %j",
    (...words) => {
      expect(given(...words, "flower")).toMatchObject({ what: "flower", flags: { times: 3 } });
    },
  );

  it("set a flag whose value is optional, alone or with an equals sign", () => {
    const parsed = (...words: string[]) => parseArguments(gather, words);
    expect(parsed("a")).toMatchObject({ given: { thing: ["a"], flags: { since: undefined } } });
    expect(parsed("--since", "a")).toMatchObject({ given: { thing: ["a"], flags: { since: true } } });
    expect(parsed("--since=main", "a")).toMatchObject({ given: { thing: ["a"], flags: { since: "main" } } });
    expect(complaint(gather, "--since=")).toBe("--since needs a value: --since[=REF]");
  });

  it("set switches and lists wherever they stand", () => {
    expect(given("--ink", "red", "flower", "-f", "--ink=blue=ish")).toMatchObject({
      what: "flower",
      flags: { hard: true, ink: ["red", "blue=ish"] },
    });
  });

  it("are no flags after --, nor is a lone dash", () => {
    expect(given("--", "--hard")).toMatchObject({ what: "--hard", flags: { hard: false } });
    expect(given("-")).toMatchObject({ what: "-" });
    expect(given("--", "--help", "--")).toMatchObject({ what: "--help", how: "--" });
  });

  it("ask for help with --help or -h, whatever else is wrong", () => {
    expect(given("--help")).toBe("help");
    expect(given("--nonsense", "-h")).toBe("help");
  });

  it("may be any number for a place that takes many", () => {
    expect(parseArguments(gather, [])).toMatchObject({ given: { thing: [] } });
    expect(parseArguments(gather, ["a", "b", "c"])).toMatchObject({ given: { thing: ["a", "b", "c"] } });
  });

  it.each([
    [["--hrad", "x"], `press has no flag "--hrad"; did you mean --hard? ("pressmark help press" lists all flags)`],
    [["--zebra"], `press has no flag "--zebra"; "pressmark help press" lists all flags`],
    [["-z"], `press has no flag "-z"; "pressmark help press" lists all flags`],
    [["--constructor"], `press has no flag "--constructor"; "pressmark help press" lists all flags`],
    [["--hard=yes", "x"], "--hard is a switch and takes no value; write it alone"],
    [["x", "--times"], "--times needs a value: --times COUNT"],
    [["x", "--times", "--"], "--times needs a value: --times COUNT"],
    [["x", "--times", "often"], "--times takes a number"],
    [[], `press needs a what: the thing; try "pressmark help press"`],
    [["a", "b", "c"], `press takes no argument "c"; see "pressmark help press"`],
  ])("that make no sense, %j, are answered by a sentence that says what to do", (words, sentence) => {
    expect(complaint(press, ...words)).toBe(sentence);
  });

  it("are held to what is offered", () => {
    expect(parseArguments(choose, ["fish"])).toMatchObject({ given: { shell: "fish" } });
    expect(complaint(choose, "bsh")).toBe(`"bsh" is not a valid shell for choose; did you mean bash?`);
    expect(complaint(choose, "powershell")).toBe(
      `"powershell" is not a valid shell for choose; choose one of bash, fish`,
    );
  });

  it("are never repeated at length", () => {
    expect(complaint(press, `--${"x".repeat(10_000)}`).length).toBeLessThan(200);
    expect(complaint(press, "a", "b", "x".repeat(10_000)).length).toBeLessThan(200);
  });
});
