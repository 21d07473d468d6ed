/** A missing package, with an installed Pressmark: named once, and offered at a terminal. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createInstallFolder, type InstallFolder, installLines } from "./install-page.ts";

// In CI a missing program is a failure, not a skip.
const hasTerminal =
  "CI" in process.env ||
  (spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes("util-linux") ?? false);

const question = (command: string) => `Install now? (${command}) [y/N] `;

/** What a line prints on a terminal, with an answer to the question, and its exit code. */
async function onTerminal(
  { folder, env }: InstallFolder,
  line: string,
  answer: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn("script", ["-qec", `stty -echo; ${line}; echo "exit code $?"`, "/dev/null"], {
    cwd: folder,
    env: { ...env, SHELL: "/bin/sh", TERM: "xterm", ...more },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  let shown = "";
  let isAnswered = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    if (isAnswered || !shown.includes("[y/N] ")) return;
    isAnswered = true;
    child.stdin.write(answer);
  });
  await closed;
  return shown.replaceAll("\r\n", "\n");
}

describe.skipIf(!hasTerminal)("a missing package (skipped without script of util-linux)", () => {
  it.each([
    ["in a project", installLines.local, "npx pressmark", "in the project: npm install pg", "node_modules/pg"],
    [
      "installed globally",
      installLines.global,
      "pressmark",
      ": npm install --global pg",
      "../prefix/lib/node_modules/pg",
    ],
  ])(
    "%s is named with its command, offered, installed on yes, and the command goes on",
    { timeout: 300_000 },
    async (_, lines, program, advice, installed) => {
      await using place = createInstallFolder();
      await place.run(lines?.split("\n")[0]);
      // Nothing listens there.
      writeFileSync(
        join(place.folder, "db.yaml"),
        "mounts: { db: { source: postgres, url: 'postgres://127.0.0.1:9/x' } }\n",
      );
      const line = `${program} ls postgres://127.0.0.1:9/x --config db.yaml`;
      const command = /npm.*/.exec(advice)![0];
      const needs = `the source "postgres" needs the package "pg"; run${advice.startsWith(":") ? "" : " "}${advice}`;

      // Neither a pipe nor CI is asked.
      await expect(place.run(line)).rejects.toMatchObject({ stderr: expect.stringContaining(needs) });
      const inCi = await onTerminal(place, line, "y\n", { CI: "true" });
      expect(inCi.split(needs)).toHaveLength(2);
      expect(inCi).not.toContain("[y/N]");

      const declined = await onTerminal(place, line, "\n");
      expect(declined).toContain(question(command));
      expect(declined).toMatch(/exit code 1\n$/);
      expect(existsSync(join(place.folder, installed))).toBe(false);

      const accepted = await onTerminal(place, line, "y\n");
      expect(existsSync(join(place.folder, installed))).toBe(true);
      const [before = "", after = ""] = accepted.split(question(command));
      expect(before).toContain(needs);
      // The second run has the package, and fails for another reason.
      expect(after).not.toContain("needs the package");
      expect(after).toMatch(/pressmark: .*\n[^]*exit code \d+\n$/);
    },
  );
});
