/** Parses the front matter of a SKILL.md without delaying anything else: a long one in a thread. */
import { type FrontMatterAnswer, parseBlock, parseSkillFrontMatter } from "../lib/skill-front-matter.ts";
import { callInThread, ThreadOverrun } from "../lib/threads.ts";

/** Parsing this much takes tens of milliseconds at most. */
const maxHere = 2 * 1024;

export function readSkillFrontMatter(text: string): Promise<FrontMatterAnswer> {
  return parseSkillFrontMatter(text, async (block) => {
    if (block.length <= maxHere) return parseBlock(block);
    try {
      return await callInThread(new URL("../lib/skill-front-matter.ts", import.meta.url), "parseBlock", block);
    } catch (cause) {
      if (!(cause instanceof ThreadOverrun)) throw cause;
      return { says: `has front matter that takes ${cause.message} to read` };
    }
  });
}
