/** What a person does, asked of Resources, and what comes of it. */
import { ResourceError } from "../errors.ts";
import type { Call, Resource, Resources } from "../resources.ts";
import { createPreviewing } from "./create-previewing.ts";
import { createTreeing } from "./create-treeing.ts";
import { firstState, noSearch, type State } from "./state.ts";
import { asMarkdown, counted, has, type Read, roughTokens, shifted, toggled } from "./tray.ts";

export interface Picker {
  readonly state: State;
  /** Called after each change, until the signal ends. */
  onChange(listener: () => void, signal: AbortSignal): void;
  /** Connects, and shows what stands at the top. Again after a failure. */
  start(): Promise<void>;
  openFolder(uri: string): void;
  closeFolder(uri: string): void;
  /** The next page, or the same again where it failed. */
  loadMore(uri: string): void;
  /** Opens every folder on the way, and has the tree go there. */
  reveal(uri: string): void;
  /** The tree is there. */
  revealed(): void;
  preview(resource: Resource): void;
  /** The next part of a large resource. */
  previewMore(): void;
  search(text: string): void;
  toggle(resource: Resource): void;
  shift(uri: string, by: -1 | 1): void;
  clearTray(): void;
  setBudget(tokens: number): void;
  /** What was chosen, as text; and how many of it have none. */
  markdown(): Promise<{ readonly text: string; readonly left: number }>;
}

/** A part of the page that keeps its piece of the state. */
export interface Desk {
  readonly state: State;
  change(next: Partial<State>): void;
  house(): Resources;
  call(signal?: AbortSignal): Call;
}

const mostHits = 50;
const pauseMs = 120;
const countedAtOnce = 4;

export function createPicker(connect: () => Promise<Resources>): Picker {
  const listeners = new Set<() => void>();
  let state = firstState;
  let house: Resources | undefined;
  let searching = new AbortController();
  let underCount = 0;

  const desk: Desk = {
    get state() {
      return state;
    },
    change(next) {
      state = { ...state, ...next };
      for (const listener of listeners) listener();
    },
    house() {
      if (!house) throw new ResourceError("unavailable", "the page is not connected yet");
      return house;
    },
    call: (signal = new AbortController().signal) => ({ caller: { id: "picker" }, signal }),
  };
  const treeing = createTreeing(desk);
  const previewing = createPreviewing(desk);

  async function start(): Promise<void> {
    desk.change({ connection: "connecting" });
    try {
      house ??= await connect();
      await treeing.start();
    } catch (cause) {
      desk.change({ connection: "failed", problem: messageOf(cause) });
    }
  }

  async function search(text: string): Promise<void> {
    searching.abort();
    searching = new AbortController();
    const { signal } = searching;
    if (text.trim() === "") return desk.change({ search: noSearch });
    desk.change({ search: { ...state.search, text, status: "loading" } });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return;
    try {
      const { hits, ready } = await desk.house().search({ text, limit: mostHits, typing: true }, desk.call(signal));
      if (!signal.aborted) desk.change({ search: { text, status: "ready", hits, ready } });
    } catch (cause) {
      if (!signal.aborted)
        desk.change({ search: { text, status: "failed", hits: [], ready: 1, problem: messageOf(cause) } });
    }
  }

  /** A few at a time: a person may choose hundreds in a moment. */
  async function countTray(): Promise<void> {
    if (underCount >= countedAtOnce) return;
    underCount += 1;
    const tried = new Set<string>();
    for (;;) {
      const waiting = state.tray.find(({ resource, tokens }) => tokens === undefined && !taken.has(resource.uri));
      if (!waiting || tried.has(waiting.resource.uri)) break;
      const { uri } = waiting.resource;
      tried.add(uri);
      taken.add(uri);
      const tokens = await cost(waiting.resource);
      taken.delete(uri);
      desk.change({ tray: counted(state.tray, uri, tokens) });
    }
    underCount -= 1;
  }
  const taken = new Set<string>();

  async function cost(resource: Resource): Promise<number | "none"> {
    try {
      const text = await textOf(resource);
      return text === undefined ? "none" : roughTokens(text);
    } catch (cause) {
      const size = cause instanceof ResourceError && cause.kind === "too-large" ? cause.details?.["size"] : undefined;
      return typeof size === "number" ? Math.ceil(size / 4) : "none";
    }
  }

  /** Undefined for what is bytes alone. */
  async function textOf({ uri }: Resource): Promise<string | undefined> {
    const { contents } = await desk.house().read(uri, desk.call());
    const texts = contents.flatMap(({ body }) => ("text" in body ? [body.text] : []));
    return texts.length === 0 ? undefined : texts.join("\n");
  }

  return {
    get state() {
      return state;
    },
    onChange(listener, signal) {
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
    },
    start,
    openFolder: treeing.open,
    closeFolder: treeing.close,
    loadMore: treeing.more,
    reveal: treeing.reveal,
    revealed: treeing.revealed,
    preview: previewing.show,
    previewMore: previewing.more,
    search: (text) => void search(text),
    toggle(resource) {
      desk.change({ tray: toggled(state.tray, resource) });
      if (has(state.tray, resource.uri)) void countTray();
    },
    shift: (uri, by) => desk.change({ tray: shifted(state.tray, uri, by) }),
    clearTray: () => desk.change({ tray: [] }),
    setBudget: (budget) => desk.change({ budget }),
    async markdown() {
      const read: Read[] = [];
      const { tray } = state;
      for (const { resource } of tray) {
        const text = await textOf(resource).catch(() => undefined);
        if (text !== undefined) read.push({ resource, text });
      }
      return { text: asMarkdown(read), left: tray.length - read.length };
    },
  };
}

/** For a person; what is no error of the house is not theirs to read. */
export function messageOf(cause: unknown): string {
  return cause instanceof ResourceError ? cause.message : "something went wrong";
}
