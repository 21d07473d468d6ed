/** The command palette: finds commands and resources as the person types, but not while an input method is composing. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { wholeUri } from "../lib/passage-uri.ts";
import { shownTitle } from "./shown-title.ts";
import type { Resource } from "../resources.ts";
import { IconImage } from "./icon.tsx";
import { messageOf } from "./message-of.ts";
import { type PaletteCommand, type PaletteContext, commandsOf, fits } from "./palette-commands.ts";
import { paletteTexts } from "./palette-texts.ts";
import { shownPath } from "./tree.ts";

export interface PaletteProps extends PaletteContext {
  /** Opened resources, the last one first. */
  readonly recent: readonly Resource[];
  readonly close: () => void;
  /** Shows a message on the page. */
  readonly say: (message: string) => void;
}

interface PaletteGroup {
  readonly id: "recent" | "commands" | "resources" | "forText";
  readonly entries: readonly PaletteEntry[];
}

interface PaletteEntry extends PaletteCommand {
  readonly resource?: Resource;
}

interface FoundResources {
  readonly text: string;
  readonly status: "idle" | "loading" | "ready" | "failed";
  readonly resources: readonly Resource[];
  readonly problem?: string;
}

const nothingFound: FoundResources = { text: "", status: "idle", resources: [] };
const maxRecent = 5;

export function Palette({ recent, close, say, ...context }: PaletteProps) {
  const { picker, language } = context;
  const words = paletteTexts(language.code);
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const isComposing = useRef(false);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useFound(picker, text);
  // The commands are those of the moment when the palette was opened.
  const commands = useMemo(() => commandsOf(context), []);

  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => list.current?.querySelector("[aria-selected='true']")?.scrollIntoView({ block: "nearest" }), [at]);

  const groups = groupsFor();
  const entries = groups.flatMap((group) => group.entries);
  const active = Math.min(at, entries.length - 1);

  function groupsFor(): readonly PaletteGroup[] {
    const { roots } = picker.state.tree;
    const entryOf = (resource: Resource): PaletteEntry => ({
      id: resource.uri,
      name: shownTitle(resource),
      resource,
      run: () => picker.preview(resource),
    });
    const opened = recent
      .filter((resource) => fits(text, shownTitle(resource), shownPath(roots, resource.uri)))
      .slice(0, maxRecent);
    const isOpened = new Set(opened.map(({ uri }) => wholeUri(uri)));
    const all: readonly PaletteGroup[] = [
      { id: "recent", entries: opened.map(entryOf) },
      { id: "commands", entries: commands.filter(({ id, name }) => fits(text, name, id)) },
      { id: "resources", entries: found.resources.filter(({ uri }) => !isOpened.has(uri)).map(entryOf) },
      // Last, with the harmless one first: Enter may come before the resources are found.
      { id: "forText", entries: commandsForText() },
    ];
    return all.filter((group) => group.entries.length > 0);
  }

  /** Commands that take the typed text. */
  function commandsForText(): readonly PaletteCommand[] {
    if (text === "") return [];
    const gather = { id: "gather for", name: words.gather(text), run: () => picker.gatherFor(text) };
    const search = { id: "search for", name: words.searchFor(text), run: () => context.focusSearch(text) };
    return [search, ...(picker.state.tools.has("gather_context") ? [gather] : [])];
  }

  function typed(value: string): void {
    if (isComposing.current) return;
    setText(value.trim());
    setAt(0);
  }

  /** Closes first, so that the focus is back on the page before a command moves it. */
  async function run(entry: PaletteEntry | undefined): Promise<void> {
    if (!entry) return;
    dialog.current?.close();
    const message = await entry.run();
    if (typeof message === "string") say(message);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const last = entries.length - 1;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: active >= last ? 0 : active + 1,
      ArrowUp: active <= 0 ? last : active - 1,
      PageDown: Math.min(last, active + 8),
      PageUp: Math.max(0, active - 8),
    };
    const step = steps[event.key];
    if (step !== undefined) setAt(Math.max(0, step));
    else if (event.key === "Enter") void run(entries[active]);
    else return;
    event.preventDefault();
  }

  const status =
    found.status === "loading"
      ? words.searching
      : found.status === "failed"
        ? words.failed(found.problem ?? "")
        : entries.length === 0
          ? words.none
          : words.count(entries.length);
  let index = -1;
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label={words.title}
      onClose={close}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
    >
      <div class="palette-box">
        <input
          type="text"
          class="search"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          enterkeyhint="go"
          placeholder={words.hint}
          aria-label={words.hint}
          aria-autocomplete="list"
          aria-expanded={entries.length > 0}
          {...(entries.length > 0 && { "aria-controls": "palette-list", "aria-activedescendant": `palette-${active}` })}
          onCompositionStart={() => (isComposing.current = true)}
          onCompositionEnd={({ currentTarget }) => {
            isComposing.current = false;
            typed(currentTarget.value);
          }}
          onInput={({ currentTarget }) => typed(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {entries.length > 0 && (
          <div id="palette-list" class="palette-list" role="listbox" aria-label={words.list} ref={list}>
            {groups.map((group) => (
              <ul key={group.id} role="group" aria-label={words[group.id]}>
                <li class="similar" role="presentation">
                  {words[group.id]}
                </li>
                {group.entries.map((entry) => {
                  index += 1;
                  const { resource } = entry;
                  const own = index;
                  return (
                    <li
                      key={entry.id}
                      id={`palette-${own}`}
                      role="option"
                      aria-selected={own === active}
                      onClick={() => void run(entry)}
                    >
                      {resource ? <IconImage type={resource.mimeType} /> : <span class="icon" />}
                      <span class="name">{entry.name}</span>
                      {resource && (
                        <span class="palette-path" title={resource.uri}>
                          {shownPath(picker.state.tree.roots, resource.uri)}
                        </span>
                      )}
                    </li>
                  );
                })}
              </ul>
            ))}
          </div>
        )}
        <p class="palette-foot">
          <span role="status">{status}</span>
          <span class="keys">{words.keys}</span>
        </p>
      </div>
    </dialog>
  );
}

/** The resources for a text; those for the text before stay until they are found. */
function useFound(picker: PaletteContext["picker"], text: string): FoundResources {
  const [found, setFound] = useState(nothingFound);
  useEffect(() => {
    if (text === "") {
      setFound(nothingFound);
      return undefined;
    }
    const ended = new AbortController();
    setFound((before) => ({ ...before, status: "loading" }));
    picker.findResources(text, ended.signal).then(
      (resources) => !ended.signal.aborted && setFound({ text, status: "ready", resources }),
      (cause: unknown) =>
        !ended.signal.aborted && setFound({ text, status: "failed", resources: [], problem: messageOf(cause) }),
    );
    return () => ended.abort();
  }, [text]);
  return found;
}
