/** Sets: saves the chosen resources under a name, shows how hosts call them, opens and deletes them. */
import { useRef, useState } from "preact/hooks";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { choiceKey } from "./choice-key.ts";
import { CopyButton } from "./copy-button.tsx";
import { maxSet } from "./create-choosing.ts";
import { messageOf } from "./message-of.ts";
import { serverName } from "./preferences.ts";
import { shownFullTitle } from "./shown-title.ts";
import { trayFiles } from "./tray.ts";

/** Something that is done only after the person agrees. */
interface Question {
  readonly text: string;
  readonly yes: string;
  act(): Promise<void>;
}

export function SetsPanel({ picker, language: { texts, code } }: Shared) {
  const { set: words } = texts;
  const { sets, tools, tray } = picker.state;
  const [name, setName] = useState("");
  /** Shown until something else is chosen. */
  const [message, setMessage] = useState({ text: "", key: "" });
  const [prompt, setPrompt] = useState<string>();
  const [question, setQuestion] = useState<Question>();
  const nameField = useRef<HTMLInputElement>(null);
  const maySave = tools.has("save_set");
  const files = trayFiles(tray);
  const failed = (why: string | undefined): string => `${texts.failed}${code === "ja" ? "：" : ": "}${why}`;
  const isEmpty = name.trim() === "" || tray.length === 0;

  function say(text: string): void {
    setMessage({ text, key: choiceKey(picker.state.tray) });
  }

  async function attempt(act: () => Promise<string>): Promise<void> {
    setPrompt(undefined);
    try {
      say(await act());
    } catch (cause) {
      say(failed(messageOf(cause)));
    }
  }

  function save(named: string, replace: boolean): Promise<void> {
    return attempt(async () => {
      setPrompt(await picker.saveSet(named, replace));
      setName("");
      return words.saved(named);
    });
  }

  function submit(event: Event): void {
    event.preventDefault();
    const named = name.trim();
    const isTaken = tools.has("delete_set") && sets.items.some((set) => set.name === named && isSaved(set));
    if (!isTaken) return void save(named, false);
    setQuestion({ text: words.exists(named), yes: words.replace, act: () => save(named, true) });
  }

  function askRemove(set: Resource): void {
    const act = () =>
      attempt(async () => {
        await picker.deleteSet(set.name);
        return words.removed(shownFullTitle(set));
      });
    setQuestion({ text: words.askRemove(shownFullTitle(set)), yes: words.removeNow, act });
  }

  /** Focus returns to the field, because the buttons disappear. */
  function decide(act?: () => Promise<void>): void {
    setQuestion(undefined);
    nameField.current?.focus();
    void act?.();
  }

  return (
    <div id="sets" class="sets" role="group" aria-label={words.title}>
      <form onSubmit={submit}>
        <label>
          {words.name}{" "}
          <input
            type="text"
            ref={nameField}
            value={name}
            maxLength={64}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        {maySave ? (
          <button type="submit" disabled={isEmpty}>
            {words.save}
          </button>
        ) : (
          <CopyButton
            texts={texts}
            label={words.copy}
            disabled={isEmpty}
            text={async () => asConfig(name.trim(), await picker.setMembers())}
          />
        )}
      </form>
      {question && (
        <div class="actions" role="alertdialog" aria-label={question.text}>
          <span>{question.text}</span>
          <button type="button" onClick={() => decide(question.act)}>
            {question.yes}
          </button>
          <button type="button" ref={(button) => button?.focus()} onClick={() => decide()}>
            {words.cancel}
          </button>
        </div>
      )}
      {files > maxSet && (
        <p class="over">{texts.inTray.tooManyForSet(new Intl.NumberFormat(code).format(files), maxSet)}</p>
      )}
      {!maySave && (
        <>
          <p class="quiet">{words.unsupported}</p>
          <div class="actions">
            <code>{toolsConfig(tools)}</code>
            <CopyButton texts={texts} label={words.copyTools} text={async () => `${toolsConfig(tools)}\n`} isSmall />
          </div>
        </>
      )}
      <p role="status">{message.key === choiceKey(tray) && message.text}</p>
      {prompt !== undefined && (
        <div class="actions">
          <span>{words.callIt}</span>
          {commandsFor(prompt).map(({ host, command }) => (
            <span key={host}>
              {host} <code>{command}</code>{" "}
              <CopyButton texts={texts} label={words.copyCommand(host)} text={async () => command} isSmall />
            </span>
          ))}
        </div>
      )}
      <div class="actions">
        <span>{words.open}</span>
        {sets.status === "loading" && <span>{texts.loading}</span>}
        {sets.status === "failed" && <span>{failed(sets.problem)}</span>}
        {sets.status === "ready" && sets.items.length === 0 && <span class="quiet">{words.none}</span>}
        {sets.items.map((set) => (
          <span key={set.uri}>
            <button
              type="button"
              title={set.description ?? set.uri}
              onClick={() =>
                void attempt(async () => {
                  await picker.openSet(set);
                  return words.opened(shownFullTitle(set));
                })
              }
            >
              {shownFullTitle(set)}
            </button>
            {tools.has("delete_set") && isSaved(set) && (
              <button
                type="button"
                class="small"
                aria-label={words.remove(shownFullTitle(set))}
                onClick={() => askRemove(set)}
              >
                ×
              </button>
            )}
          </span>
        ))}
      </div>
    </div>
  );
}

/** Sets of the config are changed there. */
function isSaved({ meta }: Resource): boolean {
  return meta?.["pressmark/origin"] !== "config";
}

/**
 * How hosts call a prompt of this server.
 * https://code.claude.com/docs/en/mcp#use-mcp-prompts-as-commands
 * https://code.visualstudio.com/docs/copilot/customization/mcp-servers
 */
function commandsFor(prompt: string) {
  const server = serverName();
  return [
    { host: "Claude Code", command: `/mcp__${server}__${prompt}` },
    { host: "VS Code", command: `/mcp.${server}.${prompt}` },
  ];
}

/** Default tools for a page, and those for other clients, if the server does not list its tools. */
const reading = ["search_resources", "list_resources", "read_resource", "gather_context"];
const others = ["pick_resources", "actions"];

/** A config lists all tools or none: adds save_set to the current ones. */
function toolsConfig(tools: ReadonlySet<string>): string {
  const there = reading.filter((name) => tools.has(name));
  const names = [...there, ...(there.length === reading.length ? others : []), "save_set"];
  return `server: { tools: [${names.join(", ")}] }`;
}

/** As written in the server's config; JSON strings are valid YAML. */
function asConfig(name: string, uris: readonly string[]): string {
  const lines = uris.map((uri) => `      - ${JSON.stringify(uri)}\n`).join("");
  return `sets:\n  ${JSON.stringify(name)}:\n    resources:\n${lines}`;
}
