/** Ways from chosen resources into a host's conversation: the texts to paste, and why one does not work for a choice. */
import { type UseLanguage, useTexts } from "./host-use-texts.ts";

export const useIds = [
  "markdown",
  "xml",
  "uris",
  "claude-code-mentions",
  "claude-code-request",
  "claude-code-command",
  "gemini-mentions",
  "gemini-request",
  "gemini-command",
  "vscode-open",
  "vscode-command",
  "cursor-open",
  "agents-request",
  "markdown-file",
  "xml-file",
] as const;
type UseId = (typeof useIds)[number];

/** One way to use a choice. */
export interface HostUse {
  readonly id: UseId;
  /** The host, or what several hosts accept. */
  readonly group: string;
  readonly name: string;
  /** It works in these hosts if they are connected to this server. */
  readonly hosts?: readonly string[];
  /** The next step of the person, in one sentence. */
  readonly next: string;
  /** Why it does not work for this choice. */
  readonly problem?: string;
  /** The text to copy; undefined if the contents must be read first. */
  readonly text?: string;
  /** A link that opens the host with a text in its chat, instead of copying. */
  readonly link?: string;
  /** How the contents are written, if they are used. */
  readonly form?: "markdown" | "xml";
  /** The name of the file to save, instead of copying. */
  readonly file?: string;
}

interface ChosenForHost {
  readonly uri: string;
  readonly isFolder?: boolean;
  /** True if the server's list is known not to contain it. */
  readonly isUnlisted?: boolean;
}

export interface HostUsesOptions {
  readonly chosen: readonly ChosenForHost[];
  /** The name of this server in the settings of the hosts. Default: as `pressmark add` writes it. */
  readonly server?: string;
  /** The name of the prompt of a saved set with the same resources. */
  readonly prompt?: string;
  readonly language?: UseLanguage;
}

export const defaultServerName = "pressmark";

/** Hosts that read resources only with tools, and are opened by no link. */
const otherAgents = ["Codex", "Qwen Code", "Copilot CLI", "opencode"];

/** Chromium on Windows opens no longer link of another program, and says nothing. */
const maxLinkLength = 2000;

/** Names of sets; a prompt with another name is not pasted. */
const plainName = /^[\p{L}\p{M}\p{N}._-]+$/u;

/**
 * Uses for every chat first, then by host. Those that do not work for the choice have a problem, and are last in their group.
 * Commands are left out without a prompt.
 */
export function usesOf({
  chosen,
  server = defaultServerName,
  prompt,
  language = "en",
}: HostUsesOptions): readonly HostUse[] {
  const texts = useTexts(language);
  const uris = chosen.map(({ uri }) => withoutControls(uri));
  const request = `${texts.readThese(server)}\n${uris.map((uri) => `- ${uri}\n`).join("")}`;
  const problem = whyNotMentioned();

  const mentions = (id: UseId, host: string, mention: (uri: string) => string): HostUse => ({
    id,
    group: host,
    hosts: [host],
    name: texts.mentions,
    next: texts.nextMentions(host),
    problem,
    text: uris.map((uri) => `@${server}:${mention(uri)}`).join(" "),
  });
  const requestIn = (id: UseId, host: string): HostUse => ({
    id,
    group: host,
    hosts: [host],
    name: texts.request,
    next: texts.nextRequest(host),
    text: request,
  });
  const open = (id: UseId, host: string, link: string): HostUse => ({
    id,
    group: host,
    hosts: [host],
    name: texts.open,
    next: texts.nextOpen(host),
    problem: link.length > maxLinkLength ? texts.noLongLink : undefined,
    link,
  });
  const command = (id: UseId, host: string, text: string): readonly HostUse[] =>
    prompt === undefined || !plainName.test(prompt)
      ? []
      : [{ id, group: host, hosts: [host], name: texts.command, next: texts.nextCommand(text), text }];

  /** Both hosts attach only what they know from the server's list: no folders, and no parts of a resource. */
  function whyNotMentioned(): string | undefined {
    if (chosen.some(({ isFolder }) => isFolder)) return texts.noFolders;
    if (uris.some((uri) => /[?#]/.test(uri))) return texts.noParts;
    if (chosen.some(({ isUnlisted }) => isUnlisted)) return texts.noUnlisted;
    // Claude Code ends a mention at its last letter or digit.
    if (uris.some((uri) => !/[0-9A-Za-z_]$/.test(uri))) return texts.noSuchEnd;
    return undefined;
  }

  const uses: readonly HostUse[] = [
    { id: "markdown", group: texts.anyChat, name: texts.markdown, next: texts.nextContents, form: "markdown" },
    { id: "xml", group: texts.anyChat, name: texts.xml, next: texts.nextContents, form: "xml" },
    {
      id: "uris",
      group: texts.anyChat,
      name: texts.uris,
      next: texts.nextUris,
      text: uris.map((uri) => `${uri}\n`).join(""),
    },
    mentions("claude-code-mentions", "Claude Code", (uri) => uri),
    requestIn("claude-code-request", "Claude Code"),
    ...command("claude-code-command", "Claude Code", `/mcp__${server}__${prompt}`),
    mentions("gemini-mentions", "Gemini CLI", escapeForGemini),
    requestIn("gemini-request", "Gemini CLI"),
    ...command("gemini-command", "Gemini CLI", `/${prompt}`),
    // VS Code decodes the query twice: as part of a URI, then as parameters.
    open(
      "vscode-open",
      "VS Code",
      `vscode://GitHub.copilot-chat?agent=agent&prompt=${encodeURIComponent(encodeURIComponent(request))}`,
    ),
    ...command("vscode-command", "VS Code", `/mcp.${server}.${prompt}`),
    open("cursor-open", "Cursor", `cursor://anysphere.cursor-deeplink/prompt?text=${encodeURIComponent(request)}`),
    {
      id: "agents-request",
      group: texts.otherAgents,
      hosts: otherAgents,
      name: texts.request,
      next: texts.nextAgents,
      text: request,
    },
    {
      id: "markdown-file",
      group: texts.file,
      name: ".md",
      next: texts.nextFile,
      form: "markdown",
      file: "pressmark.md",
    },
    { id: "xml-file", group: texts.file, name: ".xml", next: texts.nextFile, form: "xml", file: "pressmark.xml" },
  ];
  // Unlisted resources are known later, when the entries must no longer move.
  const isLast = (use: HostUse): boolean => use.problem !== undefined && use.problem !== texts.noUnlisted;
  return Object.values(Object.groupBy(uses, ({ group }) => group)).flatMap((members = []) =>
    members.toSorted((one, other) => Number(isLast(one)) - Number(isLast(other))),
  );
}

/** A text that is pasted at a terminal must not contain what ends the paste or submits it, whatever a server calls its resources. */
function withoutControls(uri: string): string {
  return uri.replaceAll(/[\s\p{Cc}\p{Cf}]/gu, encodeURIComponent);
}

/** These end a mention there unless a backslash precedes them. */
function escapeForGemini(uri: string): string {
  return uri.replaceAll(/[,;!()[\]{}\\]/g, String.raw`\$&`);
}
