/** Sets: saves the chosen resources under a name, and opens them again. */
import { useState } from "preact/hooks";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { messageOf } from "./message-of.ts";

export function SetsPanel({ picker, language: { texts } }: Shared) {
  const { set: words } = texts;
  const { sets, tools, tray } = picker.state;
  const [name, setName] = useState("");
  const [said, setSaid] = useState("");
  const maySave = tools.has("save_set");

  async function save(event: Event): Promise<void> {
    event.preventDefault();
    try {
      await picker.saveSet(name.trim());
      setSaid(words.saved(name.trim()));
      setName("");
    } catch (cause) {
      setSaid(`${texts.failed}: ${messageOf(cause)}`);
    }
  }

  async function open(set: Resource): Promise<void> {
    try {
      await picker.openSet(set);
      setSaid(words.opened(set.title ?? set.name));
    } catch (cause) {
      setSaid(`${texts.failed}: ${messageOf(cause)}`);
    }
  }

  return (
    <div id="sets" class="sets" role="group" aria-label={words.title}>
      <form onSubmit={(event) => void save(event)}>
        <label>
          {words.name}{" "}
          <input
            type="text"
            value={name}
            maxLength={64}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        {maySave ? (
          <button type="submit" disabled={name.trim() === "" || tray.length === 0}>
            {words.save}
          </button>
        ) : (
          <CopyButton
            texts={texts}
            label={words.copy}
            disabled={name.trim() === "" || tray.length === 0}
            text={async () =>
              asConfig(
                name.trim(),
                tray.map(({ resource }) => resource.uri),
              )
            }
          />
        )}
      </form>
      {!maySave && (
        <>
          <p class="quiet">{words.unsupported}</p>
          <div class="actions">
            <code>{toolsConfig(tools)}</code>
            <CopyButton texts={texts} label={words.copyTools} text={async () => `${toolsConfig(tools)}\n`} isSmall />
          </div>
        </>
      )}
      <div class="actions">
        <span>{words.open}</span>
        {sets.status === "loading" && <span>{texts.loading}</span>}
        {sets.status === "failed" && <span>{`${texts.failed}: ${sets.problem}`}</span>}
        {sets.status === "ready" && sets.items.length === 0 && <span class="quiet">{words.none}</span>}
        {sets.items.map((set) => (
          <button key={set.uri} type="button" title={set.description ?? set.uri} onClick={() => void open(set)}>
            {set.title ?? set.name}
          </button>
        ))}
      </div>
      <p role="status">{said}</p>
    </div>
  );
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
