/** The commands of the pages: those of Pressmark are parsed by its own parser and run in a project, those of others have a known form. */
import { afterAll, expect, it, onTestFinished } from "vitest";
import { loadCommand } from "../../src/cli/commands/index.ts";
import { blocksIn, blocksOf, pages, spansOf, titleOf } from "./code-blocks.ts";
import { parseCommand } from "./parse-command.ts";
import { commandsOf, type ShellCommand } from "./shell-commands.ts";
import { problemOf } from "./shell-forms.ts";
import { createShellProject, type ShellProject } from "./shell-project.ts";

/** Commands that are only parsed, by their first words. */
const onlyParsed: Readonly<Record<string, string>> = {
  serve: "serves until it is stopped",
  stdio: "serves until it is stopped",
  watch: "waits for changes",
  top: "shows a server until it is stopped",
  migrate: "needs PostgreSQL",
  backup: "needs PostgreSQL",
  restore: "needs PostgreSQL",
  pick: "needs a terminal",
  login: "needs a server to sign in at",
  drive: "needs Google",
  "token password": "needs a terminal",
};

interface OwnCommand {
  readonly words: readonly string[];
  /** Whether another program starts it: it is then parsed alone. */
  readonly isStarted: boolean;
}

/** The words after "pressmark". Undefined for a command of another program. */
function ownCommand(words: ShellCommand): OwnCommand | undefined {
  const [program, file] = words;
  if (program === "pressmark") return { words: words.slice(1), isStarted: false };
  // The single executable.
  if (program?.endsWith("/pressmark-linux-x64")) return { words: words.slice(1), isStarted: true };
  if (program === "npx" && file === "pressmark") return { words: words.slice(2), isStarted: false };
  if (program === "node" && file?.endsWith("bin/pressmark.js")) return { words: words.slice(2), isStarted: false };
  // sudo -u NAME -H pressmark …
  if (program === "sudo" && words[4] === "pressmark") return { words: words.slice(5), isStarted: true };
  // HOST mcp add NAME -- pressmark …
  const after = words.indexOf("--") + 1;
  return after > 0 && words[after] === "pressmark" ? { words: words.slice(after + 1), isStarted: true } : undefined;
}

function isOnlyParsed({ words, isStarted }: OwnCommand): boolean {
  const line = `${words.join(" ")} `;
  return (
    isStarted || words.includes("--server") || Object.keys(onlyParsed).some((begins) => line.startsWith(`${begins} `))
  );
}

it("finds the pages and their commands", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/cli.md", "docs/sources/git.md"]));
  expect(blocksIn("sh").length).toBeGreaterThan(40);
});

it("finds every command of a block, as a shell would run it", () => {
  const script = `mkdir -p x; a "b c" | d > x/file && /opt/e $(f 'g h') && k/l\n# not this\nV=1 i -- "$V" ~/j`;
  expect(
    commandsOf(script)
      .map((words) => words.join("|"))
      .sort(),
  ).toEqual(["/opt/e", "a|b c", "d", "f|g h", "i|--||/home/me/j", "k/l", "mkdir|-p|x"]);
  expect(() => commandsOf("cat <missing>")).toThrow("bash ended with");
  expect(() => commandsOf("echo a >> /etc/hosts")).toThrow("writes to a file outside");
});

it("reads what a comment says of the block below it", () => {
  const text = "<!-- not run: needs Google -->\n\n   ```sh\n   a\n     b\n   ```\n";
  expect(blocksOf("page.md", text)).toMatchObject([
    { line: 3, language: "sh", text: "a\n  b\n", notRun: "needs Google" },
  ]);
});

it("refuses commands without a form, scripts and files that do not exist", () => {
  expect(problemOf(["npm", "run", "build"])).toBeUndefined();
  expect(problemOf(["npm", "run", "bild"])).toBe("package.json has no script bild");
  expect(problemOf(["node", "bench/rum.ts"])).toBe("there is no file bench/rum.ts");
  expect(problemOf(["format", "c:"])).toContain("has no form");
});

let shared: Promise<ShellProject> | undefined;
afterAll(async () => (await shared)?.[Symbol.dispose]());

/** `init` needs a new project, and `trust` decides what other commands do. */
async function projectFor([name]: readonly string[]): Promise<ShellProject> {
  if (name !== "init" && name !== "trust") return (shared ??= createShellProject({ isNew: false }));
  const own = await createShellProject({ isNew: name === "init" });
  onTestFinished(() => own[Symbol.dispose]());
  return own;
}

it.each(blocksIn("sh").map((block) => ({ block, title: titleOf(block) })))("$title", async ({ block }) => {
  const commands = commandsOf(block.text);
  expect(commands, "the block has no command").not.toEqual([]);
  const own = commands.flatMap((words) => ownCommand(words) ?? []);
  for (const { words } of own) await parseCommand(words);
  if (block.notRun !== undefined) return;
  const others = commands.filter((words) => !ownCommand(words));
  expect(others.flatMap((words) => problemOf(words) ?? [])).toEqual([]);
  const toRun = own.flatMap((each) => (isOnlyParsed(each) || isKnown(each.words) ? [] : [each.words]));
  for (const words of toRun) {
    // Nobody is there to confirm.
    const confirmed = (await loadCommand(words[0]!))?.flags["yes"] ? [...words, "--yes"] : words;
    const { code, out, err } = await (await projectFor(words)).run(confirmed);
    if (code !== 0) throw new Error(`pressmark ${words.join(" ")} ended with ${code}: ${err}${out}`);
    if (words.includes("--json")) expect(() => jsonOf(out), words.join(" ")).not.toThrow();
  }
});

const known = new Set<string>();

/** Whether another page has shown it: pages repeat each other. Sets change what the next command sees. */
function isKnown(words: readonly string[]): boolean {
  const line = words.join(" ");
  const isRepeated = known.has(line) && words[0] !== "set";
  known.add(line);
  return isRepeated;
}

/** A document, or one in each line; nothing was found if there is no line. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as unknown);
  }
}

it("the commands before a shown output exist", async () => {
  const lines = blocksIn("").flatMap(({ text }) =>
    Array.from(text.matchAll(/^\$ (pressmark .*)$/gm), ([, line]) => line!),
  );
  expect(lines.length).toBeGreaterThan(1);
  for (const line of lines) for (const [, ...words] of commandsOf(line)) await parseCommand(words);
});

it.each(pages.filter((page) => spansOf(page, "pressmark").length > 0))(
  "the commands in sentences of %s exist",
  async (page) => {
    const problems: string[] = [];
    for (const span of spansOf(page, "pressmark")) {
      const [before = ""] = span.split(" | ");
      await parseCommand(before.split(" ").slice(1)).catch((cause: unknown) => {
        // A sentence may name a command without what it takes.
        if (!/ needs an? /.test(String(cause))) problems.push(`${span}: ${String(cause)}`);
      });
    }
    expect(problems).toEqual([]);
  },
);
