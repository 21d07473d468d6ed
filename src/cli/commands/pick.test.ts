import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

/** A terminal that shows what was written to it, and a person who presses the next key when they see what they wait for. */
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

const down = "\u001b[B";
const chosenTwo = /2 chosen, about \d+ tokens/;

describe("pick", () => {
  it("prints the URIs of what was chosen, and gives the terminal back", async () => {
    const { code, printed, said, raws } = await pick(
      [],
      [
        ["README.md", " "],
        ["1 chosen, about 3 tokens", "\t"],
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

  it("leaves with Ctrl-C, prints nothing, and says so by its exit code", async () => {
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

  it("prints a pack with what it takes", async () => {
    const { printed } = await pick(["--pack"], [["README.md", "\r"]]);
    expect(JSON.parse(printed)).toEqual({
      tokens: 3,
      items: [{ uri: `${stand.base}README.md`, mimeType: "text/markdown", tokens: 3, text: "# Read me\n" }],
    });
  });

  it("says what to do instead where there is no terminal", async () => {
    const { code, err, out } = await stand.run(["pick"], { terminal: true });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toMatch(/needs a terminal.*pressmark ls.*pressmark search/);
    expect((await stand.run(["pick", "--markdown", "--pack"])).code).toBe(2);
  });
});
