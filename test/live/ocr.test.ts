/** The text of pictures with the real tesseract, through the built program. */
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const { stdout: languages } = spawnSync("tesseract", ["--list-langs"], { encoding: "utf8" });
const isThere = "CI" in process.env || languages?.includes("jpn") === true;
const program = join(import.meta.dirname, "../../bin/pressmark.js");

let root: string;

/** The sentences that the tests look for: a screenshot in 26 px IPA Gothic with four grey levels. */
const picture = join(import.meta.dirname, "meeting.png");

beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-ocr-live-")));
  mkdirSync(join(root, "資料"));
  copyFileSync(picture, join(root, "資料/会議.png"));
  writeFileSync(join(root, "pressmark.config.yaml"), "mounts: { pictures: { source: file, root: 資料, ocr: true } }\n");
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

async function pressmark(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...words], {
    cwd: root,
    env: { PATH: process.env["PATH"], HOME: root },
  });
  return stdout;
}

describe.skipIf(!isThere)("the text of a picture, which needs tesseract-ocr and tesseract-ocr-jpn", () => {
  const config = ["--config", "pressmark.config.yaml"];

  it("is read, in Japanese and English", async () => {
    const uri = `file://${root}/%E8%B3%87%E6%96%99/%E4%BC%9A%E8%AD%B0.png`;
    expect(await pressmark("read", ...config, `${uri}?as=text`)).toBe(
      "予備の発電機を確認してください。\nBackup generator test on Friday\n",
    );
  });

  it("is found, in Japanese and English", async () => {
    // Without a line: the picture itself has none.
    const at = "会議.png: ";
    expect(await pressmark("search", ...config, "発電機の確認")).toContain(`${at}予備の発電機を確認してください。`);
    expect(await pressmark("search", ...config, "backup generator")).toContain(`${at}Backup generator test on Friday`);
  });

  it("would be that of any file, if the input were not checked first: tesseract takes it for a list of files", () => {
    const { stdout } = spawnSync("tesseract", ["stdin", "stdout", "-l", "eng", "--psm", "6"], {
      input: `${picture}\n`,
      encoding: "utf8",
    });
    expect(stdout).toContain("Backup generator");
  });
});
