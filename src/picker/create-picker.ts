/** The actions of a person, their requests to Resources, and the resulting state. */
import type { ToolUse } from "../client/tool-fallback.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Resource, Resources } from "../resources.ts";
import { type Choosing, createChoosing } from "./create-choosing.ts";
import { createGathering, type GatherController } from "./create-gathering.ts";
import { createPreviewing } from "./create-previewing.ts";
import { createSearchController, type Searching } from "./create-searching.ts";
import { createTemplating, type Templating } from "./create-templating.ts";
import { createTreeing } from "./create-treeing.ts";
import { messageOf } from "./message-of.ts";
import { firstState, type State, type PageView } from "./state.ts";
import { watchful } from "./watchful.ts";

/** A server may also have tools: sets and gathering use them. */
export type PickerResources = Resources & Partial<ToolUse>;

export interface Picker {
  readonly state: State;
  /** Called after each change, until the signal is aborted. */
  onChange(listener: () => void, signal: AbortSignal): void;
  /** Connects, and shows the top of the tree. Call again after a failure. */
  start(): Promise<void>;
  show(view: PageView): void;
  openFolder(uri: string): void;
  closeFolder(uri: string): void;
  /** Loads the next page, or the same again if it failed. */
  loadMore(uri: string): void;
  /** Opens every folder above, and scrolls the tree there. */
  reveal(uri: string): void;
  /** The tree has scrolled there. */
  revealed(): void;
  /** Rows in view: when one of them changes, its row shows that. */
  inSight(uris: readonly string[]): void;
  preview(resource: Resource): void;
  /** Loads the next part of a large resource. */
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
  gather: GatherController["gather"];
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

/** A part of the page with its piece of the state. */
export interface PagePart {
  readonly state: State;
  change(next: Partial<State>): void;
  pressmark(): PickerResources;
  call(signal?: AbortSignal): Call;
}

/** After the signal is aborted, nothing is requested or watched. */
export function createPicker(
  connect: () => Promise<PickerResources>,
  ended: AbortSignal = new AbortController().signal,
): Picker {
  const listeners = new Set<() => void>();
  let state = firstState;
  let pressmark: PickerResources | undefined;

  const part: PagePart = {
    get state() {
      return state;
    },
    change(next) {
      state = { ...state, ...next };
      for (const listener of listeners) listener();
    },
    pressmark() {
      if (!pressmark) throw new ResourceError("unavailable", "the page is not connected yet");
      return pressmark;
    },
    call: (signal) => ({ caller: { id: "picker" }, signal: signal ? AbortSignal.any([signal, ended]) : ended }),
  };
  const treeing = createTreeing(part);
  const previewing = createPreviewing(part);
  const searching = createSearchController(part);
  const templating = createTemplating(part);
  const gathering = createGathering(part);
  const choosing = createChoosing(part);

  async function start(): Promise<void> {
    const { problem: _, problemKind: __, ...rest } = state;
    state = rest;
    // An open preview stays.
    const wasReady = state.connection === "ready";
    if (!wasReady) part.change({ connection: "connecting" });
    try {
      pressmark ??= watchful(await connect(), (isLost) => {
        if (isLost !== state.isLost) part.change({ isLost });
      });
      await treeing.start();
      // A server without tools can neither gather nor save.
      const names = (await pressmark.tools?.(part.call()).catch(() => [])) ?? [];
      part.change({ tools: new Set(names) });
    } catch (cause) {
      const problemKind = cause instanceof ResourceError ? cause.kind : "unexpected";
      if (wasReady && problemKind === "unavailable") return;
      part.change({ connection: "failed", problem: messageOf(cause), problemKind });
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
      part.change({ view });
      if (view === "templates" && state.templates.status === "idle") templating.load();
    },
    openFolder: treeing.open,
    closeFolder: treeing.close,
    loadMore: treeing.more,
    reveal(uri) {
      searching.end();
      part.change({ view: "tree" });
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
