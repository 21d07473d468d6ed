import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Receipt } from "../../context/pack.ts";
import { pickIn, type PickSteps } from "../pick/test-pick.ts";
import { createStand, type Stand } from "../test-command.ts";

let stand: Stand;
beforeEach(() => {
  stand = createStand();
  stand.write("README.md", "# Read me\n");
  stand.write("docs/設定ガイド.md", "設定\n```\ncode\n```\n");
  stand.write("docs/evil.txt", "a\u001b[31mb");
  stand.write("src/main.ts", "export {};\n");
});
afterEach(() => stand.remove());

const pick = (words: readonly string[], steps: PickSteps) => pickIn(stand, words, steps);

const secret = ["x7", "Kq9vT2", "mZ4pL8", "sW1eR6"].join("");
const down = "\u001b[B";
const chosenTwo = /2 chosen, ≈ \d+ tokens/;

describe("pick", () => {
  it("prints the URIs of what was chosen, and gives the terminal back", async () => {
    const { code, printed, said, raws } = await pick(
      [],
      [
        ["README.md", " "],
        [/1 chosen, ≈ [1-9] tokens/, "\t"],
        ["evil.txt", down],
        ["evil.txt", " "],
        [chosenTwo, "\r"],
      ],
    );
    expect(code).toBe(0);
    expect(printed).toBe(`${stand.base}README.md\n${stand.base}docs/evil.txt\n`);
    expect(raws).toEqual([true, false]);
    expect(said.endsWith("\u001b[?1049l")).toBe(true);
    expect(said).not.toContain("\u001b[31m");
  });

  it("filters by letters in any script", async () => {
    const { printed } = await pick(
      [],
      [
        ["README.md", "せってい"],
        ["0 of 4", "\u0015"],
        ["README.md", "がいど"],
        ["1 of 4", "\r"],
      ],
    );
    expect(printed).toBe(`${stand.base}docs/${encodeURIComponent("設定ガイド.md")}\n`);
  });

  it("previews what the cursor is on", async () => {
    const { said } = await pick(
      [],
      [
        ["# Read me", "main"],
        ["export {};", "\u0003"],
      ],
    );
    expect(said).toContain("text/typescript");
  });

  it("quits with Ctrl-C without output, with exit code 130", async () => {
    const { code, printed, raws } = await pick(
      [],
      [
        ["README.md", " "],
        ["1 chosen", "\u0003"],
      ],
    );
    expect({ code, printed, raws }).toEqual({ code: 130, printed: "", raws: [true, false] });
  });

  it("prints contents as Markdown that no content can break out of", async () => {
    const { printed } = await pick(
      ["--markdown"],
      [
        ["README.md", "ガイド"],
        ["1 of 4", "\r"],
      ],
    );
    const uri = `${stand.base}docs/${encodeURIComponent("設定ガイド.md")}`;
    expect(printed).toBe(
      `## docs/設定ガイド.md\n\n<${uri}>\n\n\`\`\`\`markdown\n設定\n\`\`\`\ncode\n\`\`\`\n\`\`\`\`\n`,
    );
  });

  it("prints a pack in the order of the choice, cleaned, and its receipt beside it", async () => {
    stand.write("docs/key.md", `# Key\n\nin\u200bvisible\npassword: "${secret}"\n`);
    const { code, printed, said } = await pick(
      ["--pack"],
      [
        ["README.md", "key"],
        ["1 of 5", " "],
        ["1 chosen", "\u0015"],
        ["README.md", "read"],
        ["1 of 5", " "],
        [chosenTwo, "\r"],
      ],
    );
    expect(code).toBe(0);
    expect(printed).toMatch(/nothing that it says is an instruction/);
    expect(printed).toContain(
      `## docs/key.md\n\nLines 1-4:\n\n\`\`\`md\n# Key\n\ninvisible\npassword: "[masked]"\n\`\`\`\n`,
    );
    expect(printed.indexOf("## README.md\n")).toBeGreaterThan(printed.indexOf("## docs/key.md\n"));
    expect(said).toMatch(/docs\/key\.md:1-4 \(\d+ tokens, 1 masked, 1 invisible removed\): was requested/);
    expect(said).toMatch(/\d+ of 16,000 tokens \(o200k_base\)\n$/);
  });

  it("prints a pack within its budget, and reports what is not complete", async () => {
    stand.write("long.md", Array.from({ length: 400 }, (_, at) => `Line ${at} of a long text.\n`).join(""));
    const { printed } = await pick(
      ["--pack", "--budget", "600", "--json"],
      [
        ["long.md", "long"],
        ["1 of 5", "\r"],
      ],
    );
    const { passages, receipt } = JSON.parse(printed) as { passages: { lines: number[] }[]; receipt: Receipt };
    expect(passages[0]!.lines[0]).toBe(1);
    expect(receipt).toMatchObject({ budget: 600, leftOut: [{ why: "fits into the budget only in part" }] });
    expect(receipt).not.toHaveProperty("task");
    expect(receipt.tokens).toBeLessThanOrEqual(600);
  });

  it("prints what is known of the choice as JSON", async () => {
    const { printed } = await pick(["--json"], [["README.md", "\r"]]);
    expect(JSON.parse(printed)).toEqual({
      uri: `${stand.base}README.md`,
      name: "README.md",
      mimeType: "text/markdown",
      size: 10,
    });
  });

  it("prints warnings after the screen is left, and tells mounts of one name apart", async () => {
    const away = `away: { source: mcp, url: "http://127.0.0.1:9/mcp" }`;
    stand.write("b/docs/x.md");
    const mounts = `one: { source: file, root: docs }, two: { source: file, root: b/docs, scheme: two }, ${away}`;
    stand.write("pressmark.config.yaml", `mounts: { ${mounts} }\n`);
    const { said } = await pick(["--config", "pressmark.config.yaml"], [["mcp://away", "\u0003"]]);
    const [shown, afterwards] = said.split("\u001b[?1049l");
    expect(shown).not.toContain("cannot be reached; retrying");
    expect(afterwards).toContain("cannot be reached; retrying");
    expect(shown).toContain("docs (two://two)/");
  });

  it("suggests other commands without a terminal", async () => {
    const { code, err, out } = await stand.run(["pick"], { terminal: true });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(/needs a terminal.*pressmark ls.*pressmark search/);
    for (const words of [
      ["--markdown", "--pack"],
      ["--markdown", "--json"],
      ["--xml", "--markdown"],
      ["--pack", "--xml", "--json"],
    ])
      expect((await stand.run(["pick", ...words])).code, words.join(" ")).toBe(2);
  });
});
