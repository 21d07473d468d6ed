import { describe, expect, it } from "vitest";
import { UsageError } from "../command.ts";
import { splitCommand } from "./split-command.ts";

describe("a command is split into words", () => {
  it.each([
    ["npx -y server /tmp", ["npx", "-y", "server", "/tmp"]],
    ["  node   a.js\t b ", ["node", "a.js", "b"]],
    [`node "with space.js" 'and more'`, ["node", "with space.js", "and more"]],
    [`node a\\ b "c\\"d" 'e\\f' "g\\h"`, ["node", "a b", 'c"d', "e\\f", "g\\h"]],
    [`node "" ''x`, ["node", "", "x"]],
    [`node --name="日本 語"`, ["node", "--name=日本 語"]],
    [`node '$HOME' "$(rm -rf /)" 'a|b;c'`, ["node", "$HOME", "$(rm -rf /)", "a|b;c"]],
  ])("%s", (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  it("what only a shell could do, or no one can, is refused", () => {
    for (const line of ["a | b", "a && b", "a; b", "a > b", "", "   ", `a "b`, "a 'b"])
      expect(() => splitCommand(line), line).toThrow(UsageError);
  });
});
