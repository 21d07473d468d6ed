import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Receipt } from "../../context/pack.ts";
import { main } from "../main.ts";
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

/** A terminal that records its output, and a user who presses the next key when the expected text appears. */
async function pick(
  words: readonly string[],
  steps: readonly (readonly [see: string | RegExp, press: string])[],
  { columns = 100, rows = 12 } = {},
) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => raws.push(isRaw) });
  const raws: boolean[] = [];
  const err = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  const out = new PassThrough();
  let seen = "";
  let said = "";
  let printed = "";
  const waiting = [...steps];
  out.on("data", (chunk: Buffer) => (printed += String(chunk)));
  err.on("data", (chunk: Buffer) => {
    seen += String(chunk);
    said += String(chunk);
    const [next] = waiting;
    if (!next || !(typeof next[0] === "string" ? seen.includes(next[0]) : next[0].test(seen))) return;
    waiting.shift();
    seen = "";
    input.write(next[1]);
  });
  const code = await main(["pick", ...words], {
    version: "1.2.3",
    folder: stand.folder,
    env: { HOME: stand.folder, XDG_STATE_HOME: `${stand.folder}/../state`, NO_COLOR: "1" },
    input,
    out,
    err,
    signal: new AbortController().signal,
  });
  expect(waiting, said).toEqual([]);
  return { code, printed, said, raws };
}

const secret = ["x7", "Kq9vT2", "mZ4pL8", "sW1eR6"].join("");
const down = "\u001b[B";
const chosenTwo = /2 chosen, about \d+ tokens/;

describe("pick", () => {
  it("prints the URIs of what was chosen, and gives the terminal back", async () => {
    const { code, printed, said, raws } = await pick(
      [],
      [
        ["README.md", " "],
        [/1 chosen, about [1-9] tokens/, "\t"],
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
    expect(printed).toBe(`## ${uri}\n\n\`\`\`\`\n設定\n\`\`\`\ncode\n\`\`\`\n\`\`\`\`\n`);
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

  it("suggests other commands without a terminal", async () => {
    const { code, err, out } = await stand.run(["pick"], { terminal: true });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(/needs a terminal.*pressmark ls.*pressmark search/);
    for (const words of [["--markdown", "--pack"], ["--markdown", "--json"], ["--xml"], ["--pack", "--xml", "--json"]])
      expect((await stand.run(["pick", ...words])).code, words.join(" ")).toBe(2);
  });
});
