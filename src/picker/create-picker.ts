/** The actions of a person, their requests to Resources, and the resulting state. */
import type { ToolUse } from "../client/tool-fallback.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Resources } from "../resources.ts";
import { createChoosing } from "./create-choosing.ts";
import { createGathering } from "./create-gathering.ts";
import { createHosting } from "./create-hosting.ts";
import { createListings, type Listings } from "./create-listings.ts";
import { createPreviewing } from "./create-previewing.ts";
import { createSearchController } from "./create-searching.ts";
import { createTemplating } from "./create-templating.ts";
import { createTreeing } from "./create-treeing.ts";
import { messageOf } from "./message-of.ts";
import { firstState, type State, type PageView } from "./state.ts";
import { watchful } from "./watchful.ts";

/** A server may also have tools: sets and gathering use them. */
export type PickerResources = Resources & Partial<ToolUse>;

export type Picker = ReturnType<typeof createPicker>;

/** A part of the page with its piece of the state. */
export interface PagePart {
  readonly state: State;
  change(next: Partial<State>): void;
  pressmark(): PickerResources;
  call(signal?: AbortSignal): Call;
  readonly listings: Listings;
}

/** After the signal is aborted, nothing is requested or watched. */
export function createPicker(
  connect: () => Promise<PickerResources>,
  ended: AbortSignal = new AbortController().signal,
) {
  const listeners = new Set<() => void>();
  let state = firstState;
  let pressmark: PickerResources | undefined;

  const listings = createListings();
  const part: PagePart = {
    listings,
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
  const { findRoots, reveal, ...treeing } = createTreeing(part);
  const searching = createSearchController(part);
  const templating = createTemplating(part);
  const previewing = createPreviewing(part);
  const choosing = createChoosing(part);
  const gathering = createGathering(part, choosing.expanded);

  async function start(): Promise<void> {
    const { problem: _, problemKind: __, ...rest } = state;
    state = rest;
    // An open preview stays.
    const wasReady = state.connection === "ready";
    if (!wasReady) part.change({ connection: "connecting" });
    try {
      pressmark ??= watchful(
        await connect(),
        (isLost) => {
          if (isLost === state.isLost) return;
          part.change({ isLost });
          if (!isLost) choosing.resume();
        },
        listings.add,
      );
      await findRoots();
      // A server without tools can neither gather nor save.
      const names = (await pressmark.tools?.(part.call()).catch(() => [])) ?? [];
      part.change({ tools: new Set(names) });
    } catch (cause) {
      const problemKind = cause instanceof ResourceError ? cause.kind : "unexpected";
      if (wasReady && problemKind === "unavailable") return;
      part.change({ connection: "failed", problem: messageOf(cause), problemKind });
    }
  }

  function show(view: PageView): void {
    part.change({ view });
    if (view !== "tree" && state.templates.status === "idle") templating.loadTemplates();
  }

  return {
    get state(): State {
      return state;
    },
    /** Called after each change, until the signal is aborted. */
    onChange(listener: () => void, signal: AbortSignal): void {
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener), { once: true });
    },
    /** Connects, and shows the top of the tree. Call again after a failure. */
    start,
    /** The server does not respond: what is shown may be outdated. */
    setLost(): void {
      if (!state.isLost) part.change({ isLost: true });
    },
    show,
    /** Shows the gather pane with this task, and gathers. */
    gatherFor(task: string): void {
      searching.endSearch();
      show("gather");
      if (state.tools.has("gather_context")) gathering.gather(task, true);
    },
    /** Opens every folder above, and scrolls the tree there. */
    reveal(uri: string): void {
      searching.endSearch();
      reveal(uri);
    },
    ...treeing,
    ...previewing,
    preview(...args: Parameters<typeof previewing.preview>): void {
      previewing.preview(...args);
      choosing.seen(args[0].uri);
    },
    ...searching,
    ...templating,
    ...gathering,
    ...choosing,
    ...createHosting(part),
  };
}
