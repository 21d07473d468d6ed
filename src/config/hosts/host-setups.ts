/** How each host connects to a running server, or starts its own: settings, commands, and links that add the server. */
import { systemPathsOf } from "../../lib/system-paths.ts";
import { commandOfUser } from "./connection.ts";
import { type HostFile, hostFiles, type HostName } from "./hosts.ts";
import { serverName } from "./settings.ts";
import { type HostPaste, type PasteOptions, settingsToPaste } from "./to-paste.ts";
import { askedInput, tokenReference } from "./token-reference.ts";

/** Opens the host, which shows the server and waits for a confirmation. Contains no token. */
interface HostLink {
  readonly title: string;
  readonly url: string;
}

interface HostWay extends Omit<HostPaste, "host"> {
  readonly links?: readonly HostLink[];
}

export interface HostSetup {
  /** Name of the host for people. */
  readonly host: string;
  /** Connects to the server that is running. */
  readonly http?: HostWay;
  /** Starts a server of its own, on the same machine. */
  readonly stdio?: HostWay;
}

/** The words after `pressmark` that serve the same over stdio, in the environment of the running server. */
export interface StdioStart {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `bin/pressmark.js` of this package. */
  readonly program: string;
}

interface HostSetupsOptions extends PasteOptions {
  /** Undefined if hosts may be on other machines. */
  readonly stdio?: StdioStart;
}

const stdioHosts: readonly HostName[] = [
  "claude-code",
  "codex",
  "vscode",
  "cursor",
  "gemini",
  "qwen",
  "copilot",
  "opencode",
  "claude-desktop",
];

export function hostSetups(options: HostSetupsOptions): readonly HostSetup[] {
  const setups = new Map<string, HostSetup>();
  for (const { host, ...paste } of settingsToPaste(options))
    setups.set(host, { host, http: { ...paste, links: httpLinks(host, options) } });
  const { stdio } = options;
  if (!stdio) return [...setups.values()];
  const files = hostFiles({ project: "/", ...systemPathsOf(stdio.env) });
  for (const name of stdioHosts) {
    const file = files.find(({ host, scope }) => host === name && scope === "user")!;
    const connection = commandOfUser(["stdio", ...stdio.words], stdio, file.ownPath);
    setups.set(file.title, { host: file.title, ...setups.get(file.title), stdio: stdioWay(file, connection) });
  }
  return [...setups.values()];
}

function httpLinks(host: string, { url, tokenVariable }: PasteOptions): readonly HostLink[] | undefined {
  const tokenFor = (name: HostName) => tokenVariable !== undefined && tokenReference(name, tokenVariable);
  if (host === "VS Code")
    return vscodeLinks({
      type: "http",
      url,
      ...tokenFor("vscode"),
      ...(tokenVariable !== undefined && { inputs: [askedInput] }),
    });
  return host === "Cursor" ? cursorLink({ url, ...tokenFor("cursor") }) : undefined;
}

function stdioWay(
  { host, format, path, file, render }: HostFile,
  connection: ReturnType<typeof commandOfUser>,
): HostWay {
  const entry = render(connection);
  const links = host === "vscode" ? vscodeLinks(entry) : host === "cursor" ? cursorLink(entry) : undefined;
  if (host === "claude-code" || format === "toml") {
    const program = host === "claude-code" ? "claude" : host;
    const words = [connection.command, ...connection.args];
    return { kind: "command", text: `${program} mcp add ${serverName} -- ${words.map(quoted).join(" ")}`, links };
  }
  const whole = path.reduceRight<object>((inner, key) => ({ [key]: inner }), { [serverName]: entry });
  return { kind: "settings", file, text: JSON.stringify(whole), links };
}

// https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url
function vscodeLinks(entry: object): readonly HostLink[] {
  const query = encodeURIComponent(JSON.stringify({ name: serverName, ...entry }));
  return [
    { title: "VS Code", url: `vscode:mcp/install?${query}` },
    { title: "VS Code Insiders", url: `vscode-insiders:mcp/install?${query}` },
  ];
}

// https://cursor.com/docs/mcp/install-links
function cursorLink(entry: object): readonly HostLink[] {
  const config = encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString("base64"));
  return [
    {
      title: "Cursor",
      url: `cursor://anysphere.cursor-deeplink/mcp/install?name=${serverName}&config=${config}`,
    },
  ];
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
