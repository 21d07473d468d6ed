/** Loads the preview: in parts if it is large, and again whenever it changes. */
import { documentType, isDocumentBytes, wholeUri } from "../lib/passage-uri.ts";
import { ResourceError } from "../errors.ts";
import { linesOf, withoutLines } from "../lib/line-range-uri.ts";
import type { Body, Content, Call, Hit, Resource } from "../resources.ts";
import { createPartReader, firstLineOf, hasLine, type ResourcePart, startFor } from "./create-part-reader.ts";
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";
import type { PreviewState } from "./state.ts";

interface Whole extends ResourcePart, Pick<PreviewState, "isTaken" | "note" | "original"> {}

const notebookType = "application/x-ipynb+json";
const nothing = { contents: [], isPartial: false, isTaken: false, isLoadingMore: false, isGone: false } as const;

export function createPreviewing(part: PagePart) {
  let shown = new AbortController();
  const { firstPart, nextPart, linesBefore } = createPartReader(
    async (uri, call) => (await part.pressmark().read(uri, call)).contents,
  );

  function set(next: Partial<PreviewState>): void {
    const { preview } = part.state;
    if (preview) part.change({ preview: { ...preview, ...next } });
  }

  async function show(given: Resource, hit?: Hit): Promise<void> {
    const resource = wholeOf(given, hit?.resource.size);
    const lines = linesOf(given.uri);
    const wanted = lines && { lines, passage: given, hit };
    const { preview } = part.state;
    const isOpen = preview?.resource.uri === resource.uri && preview.status === "ready" && !preview.isGone;
    if (lines && isOpen && hasLine(preview, lines[0])) return set({ ...wanted });
    shown.abort();
    shown = new AbortController();
    const { signal } = shown;
    const call = part.call(signal);
    part.change({ preview: { ...nothing, ...wanted, resource, status: "loading" } });
    // Watched before the read, so that no change is missed. A resource that cannot be watched is still shown.
    const watch = await part
      .pressmark()
      .watch({ uris: [resource.uri] }, call)
      .catch(() => undefined);
    if (signal.aborted) return;
    try {
      const whole = await readWhole(resource, startFor(lines), call);
      if (!signal.aborted) set({ ...whole, status: "ready" });
    } catch (cause) {
      if (!signal.aborted) set(failure(cause));
    }
    if (!watch || signal.aborted) return;
    try {
      for await (const change of watch) if (change.kind === "updated") await again(resource, call);
    } catch {
      // The last content stays visible.
    }
  }

  async function again(resource: Resource, call: Call): Promise<void> {
    const { preview } = part.state;
    const count = preview?.contents.length ?? 0;
    const updatedAt = new Date().toISOString();
    try {
      let { next, ...whole } = await readWhole(resource, firstLineOf(preview), call);
      while (next !== undefined && whole.contents.length < count) {
        const following = await nextPart(next, call);
        whole = { ...whole, contents: [...whole.contents, ...following.contents] };
        next = following.next;
      }
      if (call.signal.aborted) return;
      // A watch also reports what may have changed, for example after the connection was restored.
      if (preview?.status === "ready" && !preview.isGone && isSame(preview.contents, whole.contents)) return;
      const rest = next === undefined ? {} : { next };
      const now = changedAt(resource, updatedAt);
      const { lines, passage, hit } = part.state.preview ?? {};
      const shared = { ...nothing, resource: now, lines, passage, hit, updatedAt, status: "ready" } as const;
      part.change({ preview: { ...shared, ...whole, ...rest } });
    } catch (cause) {
      if (call.signal.aborted) return;
      if (isMissing(cause)) set({ isGone: true });
      else set(failure(cause));
    }
  }

  /** Shows a document by its extracted text, and by its own text if it has any. Pictures and notebooks are shown themselves. */
  async function readWhole({ uri, mimeType, meta }: Resource, start: number, call: Call): Promise<Whole> {
    const forms = meta?.["pressmark/as"];
    const isPicture = mimeType?.startsWith("image/") === true;
    if (!Array.isArray(forms) || !forms.includes("text") || isPicture || uri.includes("?"))
      return readUnsaid(uri, start, call);
    if (mimeType === "application/x-ipynb+json") {
      const notebook = await firstPart(uri, 1, call);
      if (!notebook.isPartial) return { ...notebook, isTaken: false };
    }
    const isText = mimeType?.startsWith("text/") === true;
    const original = isText ? (await firstPart(uri, 1, call)).contents : undefined;
    try {
      const taken = await firstPart(`${uri}?as=text`, start, call);
      return { ...taken, isTaken: true, original };
    } catch (cause) {
      if (call.signal.aborted || isMissing(cause)) throw cause;
      return { contents: original ?? [], isPartial: false, isTaken: false, note: messageOf(cause) };
    }
  }

  /** A resource reached by a link or a search may be a document without metadata. */
  async function readUnsaid(uri: string, start: number, call: Call): Promise<Whole> {
    const first = await firstPart(uri, start, call);
    if (!isDocumentBytes(uri, first.contents)) return { ...first, isTaken: false };
    const taken = await firstPart(`${uri}?as=text`, start, call).catch(() => undefined);
    const isText = taken?.contents.every(({ body }) => "text" in body) === true;
    return isText ? { ...taken, isTaken: true } : { ...first, isTaken: false };
  }

  async function more(): Promise<void> {
    const { preview } = part.state;
    const { signal } = shown;
    if (preview?.next === undefined || preview.isLoadingMore) return;
    set({ isLoadingMore: true });
    try {
      const loaded = await nextPart(preview.next, part.call(signal));
      if (signal.aborted) return;
      const { next, ...before } = part.state.preview ?? preview;
      // It changed meanwhile, and continues elsewhere.
      if (next !== preview.next) return set({ isLoadingMore: false });
      part.change({
        preview: {
          ...before,
          ...loaded,
          contents: [...before.contents, ...loaded.contents],
          isPartial: before.isPartial,
          isLoadingMore: false,
        },
      });
    } catch (cause) {
      if (!signal.aborted) set({ isLoadingMore: false, ...failure(cause) });
    }
  }

  async function loadBefore(): Promise<void> {
    const { preview } = part.state;
    const { signal } = shown;
    if (preview?.previous === undefined || preview.isLoadingMore) return;
    set({ isLoadingMore: true });
    try {
      const loaded = await linesBefore(preview.previous, part.call(signal));
      const { previous, contents } = part.state.preview ?? preview;
      if (signal.aborted || previous !== preview.previous) return;
      // A line that is too long for one read has no number, so the lines are counted from the beginning.
      if (!loaded) return void show(preview.resource);
      set({ previous: loaded.previous, contents: [...loaded.contents, ...contents] });
    } catch (cause) {
      if (!signal.aborted) set(failure(cause));
    } finally {
      if (!signal.aborted) set({ isLoadingMore: false });
    }
  }

  return {
    /** The URI may name lines: these are shown within their resource, where the hit matched. */
    preview: (resource: Resource, hit?: Hit) => void show(resource, hit),
    /** Loads the lines before the first one that is loaded. */
    previewBefore: () => void loadBefore(),
    /** Loads the next part of a large resource. */
    previewMore: () => void more(),
  };
}

/** The resource that a passage is from. The text of a notebook, or of a document without metadata, is one of its own. */
function wholeOf(resource: Resource, size = resource.size): Resource {
  const { uri, mimeType = "", meta } = resource;
  if (!linesOf(uri)) return resource;
  const isDocument =
    documentType.test(mimeType) || (Array.isArray(meta?.["pressmark/as"]) && mimeType !== notebookType);
  return { ...resource, size, uri: isDocument ? wholeUri(uri) : withoutLines(uri) };
}

function failure(cause: unknown): Partial<PreviewState> {
  const problemKind = cause instanceof ResourceError ? cause.kind : "unexpected";
  return { status: "failed", problem: messageOf(cause), problemKind };
}

/** The old size is dropped, because it is outdated. */
function changedAt(before: Resource, at: string): Resource {
  const { size: _, ...resource } = before;
  return { ...resource, annotations: { ...resource.annotations, lastModified: at } };
}

function isSame(left: readonly Content[], right: readonly Content[]): boolean {
  return left.length === right.length && left.every(({ body }, index) => isSameBody(body, right[index]?.body));
}

function isSameBody(left: Body, right: Body | undefined): boolean {
  if (!right) return false;
  if ("text" in left) return "text" in right && left.text === right.text;
  return (
    "bytes" in right &&
    left.bytes.length === right.bytes.length &&
    left.bytes.every((byte, at) => byte === right.bytes[at])
  );
}

function isMissing(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}
