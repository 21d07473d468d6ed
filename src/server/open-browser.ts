/** Opens a page in the user's browser. */
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findProgram, usablePath } from "../lib/find-program.ts";
import { writeFileAtomically } from "../lib/write-file-atomically.ts";

/** Programs that open a URL with the user's browser. */
const openers: Partial<Record<NodeJS.Platform, readonly [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  // "start" is part of a shell, which would interpret the URL.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Variables that openers and browsers need. The others may be secrets, which every page's process would inherit. */
const neededVariables =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|BROWSER|DISPLAY|XAUTHORITY|DESKTOP_SESSION|(?:LC|XDG|DBUS|WAYLAND|KDE|GNOME|WSL)_\w+)$|^(?:SYSTEMROOT|WINDIR|COMSPEC|TEMP|TMP|USERPROFILE|(?:LOCAL)?APPDATA|PROGRAM(?:DATA|FILES.*))$/i;

interface OpenBrowserOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders whose programs are not started, such as those that are served. */
  readonly avoid?: readonly string[];
  readonly platform?: NodeJS.Platform;
  /** Called with the reason if the page could not be opened. */
  readonly failed?: (reason: string) => void;
}

/** Returns at once: a browser that is started this way may run in the foreground. */
export function openBrowser(
  url: string,
  { env, avoid = [], platform = process.platform, failed = () => undefined }: OpenBrowserOptions,
): void {
  const [name, ...args] = openers[platform] ?? ["xdg-open"];
  const program = findProgram(name, usablePath(env["PATH"] ?? "", avoid));
  if (program === undefined) return failed(`the program ${name} is not installed`);
  // Detached: Ctrl-C must not end the browser as well.
  const child = spawn(program, [...args, url], { env: withoutSecrets(env), stdio: "ignore", detached: true });
  child.on("error", () => failed(`${name} could not be started`));
  child.on("exit", (code) => {
    if (code !== 0 && code !== null) failed(`${name} failed with exit code ${code}`);
  });
  child.unref();
}

function withoutSecrets(env: OpenBrowserOptions["env"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => neededVariables.test(name)));
}

/**
 * Writes a page that leads to the URL and that only this user can read: other users of the machine can see the arguments of processes.
 * Returns the URL of the page, and a function that deletes it.
 */
export function writeRedirect(url: string, folder: string): { readonly url: string; remove(): void } {
  // A server that was killed leaves its file to the next one at this port.
  const file = join(folder, `open-${new URL(url).port}.html`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const target = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  writeFileAtomically(
    file,
    `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Pressmark</title><meta http-equiv="refresh" content="0;url=${target}"><a href="${target}">Pressmark</a>\n`,
    { isLasting: false },
  );
  return { url: pathToFileURL(file).href, remove: () => rmSync(file, { force: true }) };
}
