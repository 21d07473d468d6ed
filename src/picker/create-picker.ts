/** What a person does, asked of Resources, and what comes of it. */
import type { ToolUse } from "../client/by-tool.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Resource, Resources } from "../resources.ts";
import { type Choosing, createChoosing } from "./create-choosing.ts";
import { createGathering, type Gathering } from "./create-gathering.ts";
import { createPreviewing } from "./create-previewing.ts";
import { createSearching, type Searching } from "./create-searching.ts";
import { createTemplating, type Templating } from "./create-templating.ts";
import { createTreeing } from "./create-treeing.ts";
import { firstState, type State, type View } from "./state.ts";
import { watchful } from "./watchful.ts";

/** A house may have tools, too: sets and gathering are asked for by them. */
export type PickerHouse = Resources & Partial<ToolUse>;

export interface Picker {
  readonly state: State;
  /** Called after each change, until the signal ends. */
  onChange(listener: () => void, signal: AbortSignal): void;
  /** Connects, and shows what stands at the top. Again after a failure. */
  start(): Promise<void>;
  show(view: View): void;
  openFolder(uri: string): void;
  closeFolder(uri: string): void;
  /** The next page, or the same again where it failed. */
  loadMore(uri: string): void;
  /** Opens every folder on the way, and has the tree go there. */
  reveal(uri: string): void;
  /** The tree is there. */
  revealed(): void;
  /** These are in sight: when one of them changes, its row says so. */
  inSight(uris: readonly string[]): void;
  preview(resource: Resource): void;
  /** The next part of a large resource. */
  previewMore(): void;
  search: Searching["search"];
  filter: Searching["filter"];
  endSearch: Searching["end"];
  loadTemplates: Templating["load"];
  fill: Templating["fill"];
  unfill: Templating["unfill"];
  typeValue: Templating["type"];
  setValue: Templating["set"];
  goToVariable: Templating["goTo"];
  gather: Gathering["gather"];
  toggle: Choosing["toggle"];
  choose: Choosing["choose"];
  move: Choosing["move"];
  clearTray: Choosing["clear"];
  setBudget: Choosing["setBudget"];
  written: Choosing["written"];
  loadSets: Choosing["loadSets"];
  saveSet: Choosing["saveSet"];
  openSet: Choosing["openSet"];
}

/** A part of the page that keeps its piece of the state. */
export interface Desk {
  readonly state: State;
  change(next: Partial<State>): void;
  house(): PickerHouse;
  call(signal?: AbortSignal): Call;
}

/** Nothing more is asked, and nothing watched, once it has ended. */
export function createPicker(
  connect: () => Promise<PickerHouse>,
  ended: AbortSignal = new AbortController().signal,
): Picker {
  const listeners = new Set<() => void>();
  let state = firstState;
  let house: PickerHouse | undefined;

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
    call: (signal) => ({ caller: { id: "picker" }, signal: signal ? AbortSignal.any([signal, ended]) : ended }),
  };
  const treeing = createTreeing(desk);
  const previewing = createPreviewing(desk);
  const searching = createSearching(desk);
  const templating = createTemplating(desk);
  const gathering = createGathering(desk);
  const choosing = createChoosing(desk);

  async function start(): Promise<void> {
    const { problem: _, problemKind: __, ...rest } = state;
    state = rest;
    // Whoever has something to look at keeps it.
    const wasReady = state.connection === "ready";
    if (!wasReady) desk.change({ connection: "connecting" });
    try {
      house ??= watchful(await connect(), (isLost) => {
        if (isLost !== state.isLost) desk.change({ isLost });
      });
      await treeing.start();
      // A server without tools is one that neither gathers nor saves.
      const names = (await house.tools?.(desk.call()).catch(() => [])) ?? [];
      desk.change({ tools: new Set(names) });
    } catch (cause) {
      const problemKind = cause instanceof ResourceError ? cause.kind : "unexpected";
      if (wasReady && problemKind === "unavailable") return;
      desk.change({ connection: "failed", problem: messageOf(cause), problemKind });
    }
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
    show(view) {
      desk.change({ view });
      if (view === "templates" && state.templates.status === "idle") templating.load();
    },
    openFolder: treeing.open,
    closeFolder: treeing.close,
    loadMore: treeing.more,
    reveal(uri) {
      searching.end();
      desk.change({ view: "tree" });
      treeing.reveal(uri);
    },
    revealed: treeing.revealed,
    inSight: treeing.inSight,
    preview: previewing.show,
    previewMore: previewing.more,
    search: searching.search,
    filter: searching.filter,
    endSearch: searching.end,
    loadTemplates: templating.load,
    fill: templating.fill,
    unfill: templating.unfill,
    typeValue: templating.type,
    setValue: templating.set,
    goToVariable: templating.goTo,
    gather: gathering.gather,
    toggle: choosing.toggle,
    choose: choosing.choose,
    move: choosing.move,
    clearTray: choosing.clear,
    setBudget: choosing.setBudget,
    written: choosing.written,
    loadSets: choosing.loadSets,
    saveSet: choosing.saveSet,
    openSet: choosing.openSet,
  };
}

/** For a person; what is no error of the house is not theirs to read. */
export function messageOf(cause: unknown): string {
  return cause instanceof ResourceError ? cause.message : "something went wrong";
}
