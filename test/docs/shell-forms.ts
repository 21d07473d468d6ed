/** Commands of other programs that the pages show, and why the test of the pages does not run them. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./code-blocks.ts";
import type { ShellCommand } from "./shell-commands.ts";

interface ShellForm {
  /** The first words. A form with more words comes before one with fewer. */
  readonly begins: string;
  readonly why: string;
  /** Returns what is wrong; undefined if nothing is. */
  check?(words: ShellCommand): string | undefined;
}

/** Scripts of this package, and of those that have a folder of their own here. */
const scripts = globSync("{,*/,*/*/}package.json", {
  cwd: root,
  exclude: (name) => /node_modules|dist/.test(name),
}).flatMap((file) =>
  Object.keys((JSON.parse(readFileSync(join(root, file), "utf8")) as { scripts?: object }).scripts ?? {}),
);

/** The first word after the form that is no option is a file of this repository. */
const fileExists = (after: number) => (words: ShellCommand) => {
  const file = words.slice(after).find((word) => !word.startsWith("-"));
  return file !== undefined && existsSync(join(root, file)) ? undefined : `there is no file ${file}`;
};

const shellForms: readonly ShellForm[] = [
  { begins: "npm ci", why: "the tests run in what it installs" },
  { begins: "npm start", why: "a script of package.json", check: () => scriptExists("start") },
  { begins: "npm test", why: "this test is a part of it" },
  { begins: "npm run", why: "a script of package.json", check: (words) => scriptExists(words[2]) },
  { begins: "npm create pressmark-source", why: "test/create/ runs the program" },
  { begins: "npm install", why: "test/package/ installs the packed package" },
  { begins: "npm uninstall", why: "removes what the page installed" },
  { begins: "rm", why: "removes what the page made" },
  { begins: "code --install-extension", why: "needs VS Code" },
  { begins: "npm pack", why: "test/package/ packs the package" },
  { begins: "npx vitest run", why: "the tests run it", check: fileExists(3) },
  { begins: "node", why: "a program of this repository that takes minutes", check: fileExists(1) },
  { begins: "cd", why: "changes the folder" },
  { begins: "source", why: "reads a file into the shell" },
  { begins: "cat", why: "prints a file" },
  { begins: "gzip", why: "compresses its input" },
  { begins: "mkdir", why: "makes a folder, in the test too" },
  { begins: "openssl rand", why: "prints random bytes" },
  { begins: "curl", why: "needs the server that the page starts" },
  { begins: "claude mcp add", why: "test/live/hosts.test.ts runs it" },
  { begins: "claude plugin", why: "test/interop/ installs the plugin" },
  { begins: "codex plugin", why: "test/interop/ installs the plugin" },
  { begins: "gemini extensions", why: "test/interop/ installs the extension" },
  { begins: "mcp-publisher", why: "publishes" },
  { begins: "sudo", why: "needs a system of its own; test/live/team.test.ts runs what the page on teams sets up" },
  { begins: "systemctl", why: "needs systemd" },
  { begins: "journalctl", why: "needs systemd" },
  { begins: "podman", why: "needs containers" },
  { begins: "docker", why: "needs containers" },
  { begins: "kubectl", why: "needs Kubernetes" },
  { begins: "apt install", why: ".ci/run installs Debian's packages" },
  { begins: "brew install", why: "needs macOS" },
  { begins: "pbcopy", why: "needs macOS" },
  { begins: "jq", why: "a filter; the test parses the JSON before it" },
  { begins: "redis-cli", why: "test/live/redis.test.ts sets the same" },
];

function scriptExists(name: string | undefined): string | undefined {
  return name !== undefined && scripts.includes(name) ? undefined : `package.json has no script ${name}`;
}

/** What is wrong with a command of another program; undefined if nothing is known to be. */
export function problemOf(words: ShellCommand): string | undefined {
  const line = words.join(" ");
  const form = shellForms.find(({ begins }) => `${line} `.startsWith(`${begins} `));
  if (!form)
    return `"${line}" has no form in test/docs/shell-forms.ts: add one with a reason, or mark the block as not run`;
  return form.check?.(words);
}
