/** A folder of real skills: plain, nested, with files of every kind, and one that is not right. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { encodeText } from "../../src/lib/text-encoding.ts";
import { png } from "./fixture-media.ts";

export interface SkillsFolder extends AsyncDisposable {
  readonly path: string;
  write(name: string, content: string | Uint8Array): Promise<void>;
}

/** The URIs of all skills that are right, in order. */
export const skillUris = [
  "skill://printing/SKILL.md",
  "skill://team/binding/SKILL.md",
  "skill://team/binding/sewing/SKILL.md",
];

/** Of the skill "printing", in order. */
export const printingUris = [
  "skill://printing/SKILL.md",
  "skill://printing/plates/first.png",
  "skill://printing/plates/old.txt",
  "skill://printing/plates/Q&A%20100%25%20%E6%97%A5%E6%9C%AC.md",
  "skill://printing/plates/with-mark.md",
];

const files: Readonly<Record<string, string | Uint8Array>> = {
  "printing/SKILL.md": `---
# How an author writes it
name: printing
description: >-
  Prints a page.
  Use when ink and paper are at hand. 印刷するときに使う。
license: MIT
compatibility: Needs a press
metadata:
  author: 'the printer''s'
  version: "1.0"
allowed-tools: Bash(press:*) Read
---

# Printing

Pick a plate from \`plates/\`.
`,
  "printing/plates/first.png": png,
  "printing/plates/Q&A 100% 日本.md": "# Odd, and yet a name\n",
  "printing/plates/with-mark.md": "\ufeffmarked\n",
  "printing/plates/old.txt": encodeText("これは日本語の文章です。印刷の手順を説明します。\n", "shift_jis") ?? "",
  "team/binding/SKILL.md": "---\r\nname: binding\r\ndescription: Binds a book\r\n---\r\n\r\nFold first.\r\n",
  "team/binding/sewing/SKILL.md": "---\nname: sewing\ndescription: Sews the sheets\n---\n",
  "broken/SKILL.md": "---\nname: another\ndescription: Is not what it says\n---\n",
};

/** Below `inside` of a folder that is there already, or in one of its own. */
export async function createSkillsFolder(inside?: string): Promise<SkillsFolder> {
  const own = inside === undefined ? await realpath(await mkdtemp(join(tmpdir(), "pressmark-skills-"))) : undefined;
  const path = own ?? (inside as string);
  async function write(name: string, content: string | Uint8Array): Promise<void> {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  for (const [name, content] of Object.entries(files)) await write(name, content);
  return {
    path,
    write,
    async [Symbol.asyncDispose]() {
      if (own !== undefined) await rm(own, { recursive: true, force: true });
    },
  };
}
