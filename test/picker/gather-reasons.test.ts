import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { noRoom, partlyNoRoom } from "../../src/lib/pack-budget.ts";
import { reasonText } from "../../src/picker/gather-reasons.ts";

const context = new URL("../../src/context/", import.meta.url);
const begins = /^(?:was|is|has|contains|begins|defines|lists|could|does|fits|tests|changed in|\$\{[^}]+\} has a) ?/;

/** The reasons in the sources of gathering, with an example in each gap. */
async function sentencesOfServer(): Promise<readonly string[]> {
  const names = (await readdir(context)).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const texts = await Promise.all(names.map((name) => readFile(new URL(name, context), "utf8")));
  const literals = texts
    .map((text) => text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, ""))
    .flatMap((text) =>
      [...text.matchAll(/"([^"\n]+)"|`([^`\n]+)`/g)].map(([, plain, filled]) => plain ?? filled ?? ""),
    );
  const found = literals.filter((text) => text.includes(" ") && begins.test(text));
  return [...new Set([...found, noRoom, partlyNoRoom, "tests"])].map((text) =>
    (/^is tested by$|^is the counterpart of$|^is a translation of$|^tests$/.test(text) ? `${text} a.ts` : text)
      .replaceAll(/\$\{(?:words|inPath)\}/g, '"x", "y"')
      .replaceAll(/\$\{sayLines\(file\)\}/g, ": +2 -1")
      .replaceAll(/\$\{[^}]+\}/g, "x"),
  );
}

describe("reasons of gathering", () => {
  it("has Japanese for every sentence of the server", async () => {
    const sentences = await sentencesOfServer();
    expect(sentences.length).toBeGreaterThan(28);
    const untranslated = sentences.filter((each) => !/[ぁ-ん]/.test(reasonText(each, "ja", String)));
    expect(untranslated).toEqual([]);
  });

  it.each([
    ['contains "売上", "a"', "「売上」「a」を含みます", 'contains "売上", "a"'],
    ['a b.ts has a matching name: "b"', "名前が「b」に一致します", 'has a matching name: "b"'],
    ["is in file:///a/b/, which was requested", "指定された PATH に含まれています", "is in PATH, which was requested"],
    [
      "is the patch of a file that was renamed: +2 -1",
      "ファイルの変更内容です（名前の変更、+2 -1）",
      "shows the changes of a file that was renamed: +2 -1",
    ],
    ["of another server", "of another server", "of another server"],
  ])("shows %j in both languages", (sentence, japanese, english) => {
    expect(reasonText(sentence, "ja", () => "PATH")).toBe(japanese);
    expect(reasonText(sentence, "en", () => "PATH")).toBe(english);
  });
});
