import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pdf } from "../../backends/documents/test-documents.ts";
import { pickIn, type PickSteps } from "../pick/test-pick.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
const long = Array.from({ length: 300 }, (_, at) =>
  at === 186 ? "the needle of this haystack\n" : `Line ${at + 1}.\n\n`,
).join("");

beforeAll(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write("設計/決済.md", "# 決済\n");
  stand.write("設計/認証.md", "# 認証\n");
  stand.write("設計/深い/画像.md", "# 画像\n");
  stand.write("src/long.md", long);
});
afterAll(() => stand.remove());

const pick = (steps: PickSteps, words: readonly string[] = []) => pickIn(stand, words, steps);
const uriOf = (path: string) => stand.base + path.split("/").map(encodeURIComponent).join("/");
const [search, whole, use, down, enter] = ["\u0006", "\u0017", "\u000f", "\u001b[B", "\r"];

describe("pick chooses passages", () => {
  it("of a search in contents, by their lines", async () => {
    const { printed, said } = await pick([
      ["README.md", search],
      ["words to search for", "needle"],
      ["> the needle of this haystack", "\t"],
      [/1 chosen, ≈ \d/, enter],
    ]);
    const [, first, last] = new RegExp(`^${uriOf("src/long.md")}\\?lines=(\\d+)-(\\d+)\n$`).exec(printed) ?? [];
    const line = long.split("\n").indexOf("the needle of this haystack") + 1;
    expect(Number(first)).toBeLessThanOrEqual(line);
    expect(Number(last)).toBeGreaterThanOrEqual(line);
    expect(Number(last) - Number(first)).toBeLessThan(200);
    expect(said).toContain(`src/long.md:${first}-${last}  the needle`);
  });

  it("or the whole file, with one key, and space once the arrows were used", async () => {
    const { printed } = await pick([
      ["README.md", search],
      ["words to search for", "needle haystack"],
      ["the needle of", `${down} `],
      ["1 chosen", whole],
      [/1 chosen, ≈ \d/, enter],
    ]);
    expect(printed).toBe(`${uriOf("src/long.md")}\n`);
  });

  it("of the text of a document, and prints the text of a whole one", async () => {
    const papers = createStand();
    try {
      papers.write("報告書.pdf", pdf([["The compass report"]]));
      const find: PickSteps = [
        ["報告書.pdf", search],
        ["words to search for", "compass"],
      ];
      const lines = await pickIn(papers, ["--markdown"], [...find, ["The compass report", "\t"], ["1 chosen", enter]]);
      expect(lines.printed).toMatch(
        /^## 報告書\.pdf:1-\d+\n\n<file:.*\.pdf\?as=text&lines=1-\d+>\n[^]*The compass report/,
      );
      const all = await pickIn(papers, ["--markdown"], [...find, ["The compass report", whole], ["1 chosen", enter]]);
      expect(all.printed).toMatch(/^## 報告書\.pdf\n[^]*The compass report/);
      expect(all.said).not.toContain("has no text");
    } finally {
      papers.remove();
    }
  });
});

describe("pick chooses folders", () => {
  it("in three states, counted before anything is read, under decoded names", async () => {
    const { printed, said } = await pick([
      ["設計/", "\u001b[F"],
      ["README.md", " "],
      [/\* ▸ 設計\/[^]*3 chosen, ≈ \d+ tokens/, "\t"],
      ["決済.md", "決済"],
      ["1 of 5", " "],
      ["2 chosen, ≈", "\u0015"],
      [/- ▾ 設計\//, enter],
    ]);
    expect(printed).toBe(`${uriOf("設計/深い/画像.md")}\n${uriOf("設計/認証.md")}\n`);
    expect(said).not.toContain("not counted");
  });
});

describe("pick offers uses", () => {
  const two: PickSteps = [
    ["README.md", "決済"],
    ["1 of 5", " "],
    ["1 chosen, ≈", "\u0015"],
    ["README.md", " "],
    ["2 chosen, ≈", use],
  ];

  it("prints mentions for Claude Code", async () => {
    const { printed } = await pick([...two, ["Claude Code", "1"]]);
    expect(printed).toBe(`@pressmark:${uriOf("設計/決済.md")} @pressmark:${stand.base}README.md\n`);
  });

  it("prints a request to read for hosts without mentions, and of what cannot be mentioned", async () => {
    const { printed } = await pick([...two, ["Codex and others: print a request", "3"]]);
    expect(printed).toMatch(/^Read these resources of the MCP server "pressmark"/);
    expect(printed).toContain(`\n- ${uriOf("設計/決済.md")}\n- ${stand.base}README.md\n`);
    const lines = await pick([
      ["README.md", search],
      ["words to search for", "needle"],
      ["> the needle of this haystack", "\t"],
      ["1 chosen", use],
      [/1 {2}Claude Code: print mentions \(Lines cannot be mentioned/, "1"],
      [/Lines cannot be mentioned/, "3"],
    ]);
    expect(lines.printed).toMatch(/\n- \S+long\.md\?lines=\d+-\d+\n$/);
  });

  it("of a folder under the cursor, which is not chosen by opening the menu", async () => {
    const { printed } = await pick([
      ["設計/", "\u001b[F\u001b[F"],
      ["▸ 設計/", use],
      [/Gemini CLI: print mentions \(A folder/, "\u001b"],
      ["▸ 設計/", " "],
      ["3 chosen", enter],
    ]);
    expect(printed.trimEnd().split("\n")).toHaveLength(3);
  });

  it("copies Markdown through the terminal, and prints nothing", async () => {
    const { printed, said } = await pick([...two, ["Claude Code", "4"]]);
    expect(printed).toBe("");
    const copied = Buffer.from(/\]52;c;([\w+/=]+)/.exec(said)![1]!, "base64").toString();
    expect(copied).toContain(`## 設計/決済.md\n\n<${uriOf("設計/決済.md")}>\n\n\`\`\`markdown\n# 決済\n\`\`\`\n`);
    expect(said).toMatch(/sent \d+ characters to the clipboard \(OSC 52\)/);
  });

  it("prints XML, chosen with the arrows, as the flag does", async () => {
    const { printed } = await pick([...two, ["Claude Code", down.repeat(6)], ["> 7", enter]]);
    expect(printed).toContain(
      `<document name="設計/決済.md" uri="${uriOf("設計/決済.md")}" type="text/markdown">\n# 決済\n`,
    );
    const { printed: again } = await pick([["README.md", enter]], ["--xml"]);
    expect(again).toMatch(/^<documents>\n<document /);
  });

  it("goes back with escape", async () => {
    const { printed } = await pick([...two, ["Claude Code", "\u001b"], ["README.md", enter]]);
    expect(printed).toBe(`${uriOf("設計/決済.md")}\n${stand.base}README.md\n`);
  });

  it("saves a set under a name", async () => {
    const { code, said } = await pick([...two, ["Claude Code", "9"], ["name of the set", "start"], ["start_", enter]]);
    expect(code).toBe(0);
    expect(said).toContain('the set "start" holds 2 resources');
    expect((await stand.run(["set", "show", "start"])).out).toContain("README.md");
    const again = await pick([
      ["README.md", use],
      ["Claude Code", "9"],
      ["name of the set", "my set"],
      ["my set_", enter],
      ["a set's name must begin with a letter", "\u007f".repeat(6) + "start"],
      ["start_  (exists; enter adds to it)", enter],
    ]);
    expect(again.said).toContain('the set "start" holds 2 resources');
  });

  it("offers no set of another server, which cannot be changed", async () => {
    const child = join(import.meta.dirname, "../../../test/e2e/child.ts");
    const { said } = await pick(
      [
        ["README.md", use],
        ["print the URIs", "\u0003"],
      ],
      ["--server", `${process.execPath} ${child} stdio ${stand.folder}`],
    );
    expect(said).not.toContain("save as a set, for hosts");
  });
});

it("the help names every key that the documentation names", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/terminal.md"), "utf8");
  for (const key of ["Ctrl-F", "Ctrl-W", "Ctrl-O"]) expect(page).toContain(key);
});
