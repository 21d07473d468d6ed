/** The preview's questions: read, a part at a time where it is large, and again whenever it changes. */
import { ResourceError } from "../errors.ts";
import type { Call, Content, Resource } from "../resources.ts";
import { type Desk, messageOf } from "./create-picker.ts";
import type { Preview } from "./state.ts";

export interface Previewing {
  show(resource: Resource): void;
  more(): void;
}

interface Part {
  readonly contents: readonly Content[];
  readonly next?: string;
  readonly isPartial: boolean;
}

const nothing = { contents: [], isPartial: false, isLoadingMore: false, isGone: false } as const;

export function createPreviewing(desk: Desk): Previewing {
  let shown = new AbortController();

  function set(next: Partial<Preview>): void {
    const { preview } = desk.state;
    if (preview) desk.change({ preview: { ...preview, ...next } });
  }

  async function show(resource: Resource): Promise<void> {
    shown.abort();
    shown = new AbortController();
    const { signal } = shown;
    const call = desk.call(signal);
    desk.change({ preview: { ...nothing, resource, status: "loading" } });
    // Watched before it is read, so that nothing falls between. What cannot be watched is shown all the same.
    const watch = await desk
      .house()
      .watch({ uris: [resource.uri] }, call)
      .catch(() => undefined);
    if (signal.aborted) return;
    try {
      const part = await firstPart(resource.uri, call);
      if (!signal.aborted) set({ ...part, status: "ready" });
    } catch (cause) {
      if (!signal.aborted) set({ status: "failed", problem: messageOf(cause) });
    }
    if (!watch || signal.aborted) return;
    try {
      for await (const change of watch) if (change.kind === "updated") await again(resource.uri, call);
    } catch {
      // Whoever looks on sees what was read last.
    }
  }

  async function again(uri: string, call: Call): Promise<void> {
    const wanted = desk.state.preview?.contents.length ?? 0;
    const updatedAt = new Date().toISOString();
    try {
      let { contents, next, isPartial } = await firstPart(uri, call);
      while (next !== undefined && contents.length < wanted) {
        const part = await nextPart(next, call);
        contents = [...contents, ...part.contents];
        next = part.next;
      }
      if (!call.signal.aborted) replace({ contents, isPartial, ...(next !== undefined && { next }) }, updatedAt);
    } catch (cause) {
      if (call.signal.aborted) return;
      if (cause instanceof ResourceError && cause.kind === "not-found") set({ isGone: true });
      else set({ status: "failed", problem: messageOf(cause) });
    }
  }

  function replace(part: Part, updatedAt: string): void {
    const { preview } = desk.state;
    if (preview)
      desk.change({ preview: { ...nothing, resource: preview.resource, status: "ready", ...part, updatedAt } });
  }

  async function firstPart(uri: string, call: Call): Promise<Part> {
    try {
      const { contents } = await desk.house().read(uri, call);
      return { contents, isPartial: false };
    } catch (cause) {
      const first = cause instanceof ResourceError && cause.kind === "too-large" ? firstRange(cause) : undefined;
      if (first === undefined) throw cause;
      return nextPart(first, call);
    }
  }

  async function nextPart(uri: string, call: Call): Promise<Part> {
    const { contents } = await desk.house().read(uri, call);
    const next = nextRange(contents.at(-1), uri);
    return { contents, isPartial: true, ...(next !== undefined && { next }) };
  }

  async function more(): Promise<void> {
    const { preview } = desk.state;
    const { signal } = shown;
    if (preview?.next === undefined || preview.isLoadingMore) return;
    set({ isLoadingMore: true });
    try {
      const part = await nextPart(preview.next, desk.call(signal));
      if (signal.aborted) return;
      const { next: _, ...before } = desk.state.preview ?? preview;
      desk.change({
        preview: { ...before, ...part, contents: [...before.contents, ...part.contents], isLoadingMore: false },
      });
    } catch (cause) {
      if (!signal.aborted) set({ isLoadingMore: false, status: "failed", problem: messageOf(cause) });
    }
  }

  return { show: (resource) => void show(resource), more: () => void more() };
}

/** The server says how to ask for a part. */
function firstRange({ details }: ResourceError): string | undefined {
  const ranges = details?.["ranges"];
  const first: unknown = Array.isArray(ranges) ? ranges[0] : undefined;
  return typeof first === "string" ? first : undefined;
}

function nextRange(content: Content | undefined, uri: string): string | undefined {
  const range = content?.meta?.["pressmark/range"];
  const next = typeof range === "object" && range !== null && "next" in range ? range.next : undefined;
  return typeof next === "string" ? `${uri.replace(/\?.*$/, "")}?${next}` : undefined;
}
