/** A project and a home folder for one host, which gets nothing else of this machine's settings. */
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type HostProgram, programOf } from "./install.ts";

const pressmark = join(import.meta.dirname, "..", "..", "..", "bin", "pressmark.js");

/** The text that only the root of the project has. */
export const rootText = "tea from the root of the project";

export interface HostPlace extends Disposable {
  readonly project: string;
  /** Where the host is started. */
  readonly sub: string;
  readonly home: string;
  /** URI of the file with `rootText`. */
  readonly uri: string;
  write(path: string, content: string | object): void;
  read(path: string): string;
  /** What it prints; `pressmark` is on its PATH. */
  pressmark(...words: readonly string[]): Promise<string>;
  run(words: readonly string[], options?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv }): Promise<string>;
  readonly env: NodeJS.ProcessEnv;
  /** The state and the message of `doctor` about this host. */
  doctor(title: string): Promise<string>;
}

export function createHostPlace(program: HostProgram, more: NodeJS.ProcessEnv = {}): HostPlace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), `pressmark-${program}-`)));
  const [project, home, bin] = [join(root, "project"), join(root, "home"), join(root, "bin")];
  const sub = join(project, "sub");
  for (const folder of [sub, home, bin]) mkdirSync(folder, { recursive: true });
  symlinkSync(pressmark, join(bin, "pressmark"));
  symlinkSync(process.execPath, join(bin, "node"));
  symlinkSync(programOf(program), join(bin, program));
  execFileSync("git", ["init", "--quiet", project]);
  writeFileSync(join(project, "root.md"), `${rootText}\n`);
  writeFileSync(join(sub, "below.md"), "below\n");
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, TERM: "xterm", NO_COLOR: "1", BROWSER: "true", ...more };

  const run: HostPlace["run"] = (words, { cwd = sub, env: own = {} } = {}) =>
    printedBy(join(bin, program), words, { cwd, env: { ...env, ...own } });
  const ownCommand = (...words: readonly string[]) => printedBy(join(bin, "pressmark"), words, { cwd: sub, env });
  return {
    project,
    sub,
    home,
    env,
    uri: pathToFileURL(join(project, "root.md")).href,
    write(path, content) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), typeof content === "string" ? content : JSON.stringify(content));
    },
    read: (path) => readFileSync(join(root, path), "utf8"),
    pressmark: ownCommand,
    run,
    async doctor(title) {
      const printed = await ownCommand("doctor", "--json");
      const found = (JSON.parse(printed.slice(printed.indexOf("["), printed.lastIndexOf("]") + 1)) as Found[]).find(
        ({ about }) => about === title,
      );
      return `${found?.state}: ${found?.says}`;
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}

interface Found {
  readonly about: string;
  readonly state: string;
  readonly says: string;
}

function printedBy(
  program: string,
  words: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(program, words, { ...options, timeout: 90_000, killSignal: "SIGKILL" }, (_, out, err) =>
      resolve(out + err),
    );
    child.stdin?.end();
  });
}
