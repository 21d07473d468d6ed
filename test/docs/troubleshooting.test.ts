/** docs/troubleshooting.md explains what doctor and the commands print, and nothing that they do not. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { doctorSentences } from "./doctor-sentences.ts";

const root = join(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/troubleshooting.md"), "utf8");
/** The messages are headings in code. */
const headings = Array.from(page.matchAll(/^### `(.+)`$/gm), ([, message = ""]) => message);
const code = [...globSync("src/**/*.ts", { cwd: root }), "bin/pressmark.js"]
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n")
  .replaceAll("\\${", "${");

describe("docs/troubleshooting.md", () => {
  it.each([...doctorSentences(root)])("explains what doctor prints: %s", (sentence) => {
    const pattern = new RegExp(`^${sentence.split("…").map(escaped).join(".*")}`);
    expect(headings.filter((heading) => pattern.test(heading)).length, "headings with this sentence").toBeGreaterThan(
      0,
    );
  });

  it.each(headings)("explains only what is printed: %s", (heading) => {
    const parts = heading.split("…").map((part) => part.replaceAll(/^[\s:;,()]+|[\s:;,()]+$/g, ""));
    expect(parts.filter((part) => !isInCode(part.split(" ")))).toEqual([]);
  });

  it("finds the sentences and the headings", () => {
    expect(doctorSentences(root).size).toBeGreaterThan(50);
    expect(headings.length).toBeGreaterThan(70);
    expect(new Set(headings).size).toBe(headings.length);
  });
});

/** The code may put a message together from pieces; each has at least two words. */
function isInCode(words: readonly string[]): boolean {
  if (code.includes(words.join(" "))) return true;
  const lengths = Array.from({ length: Math.max(0, words.length - 3) }, (_, index) => index + 2);
  return lengths.some((length) => code.includes(words.slice(0, length).join(" ")) && isInCode(words.slice(length)));
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
