/** Loads the preview: in parts if it is large, and again whenever it changes. */
import { cutAt } from "../lib/cut-at.ts";
import { ResourceError } from "../errors.ts";
import type { Call, Content, Resource } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";
import { type Loose, recordOf } from "./loose.ts";
import type { PreviewState } from "./state.ts";

interface Part extends Pick<PreviewState, "contents" | "next" | "isPartial"> {}

interface Whole extends Part, Pick<PreviewState, "isTaken" | "note" | "original"> {}

const documents = /^application\/(?:pdf|vnd\.(?:openxmlformats|oasis))/;
const nothing = { contents: [], isPartial: false, isTaken: false, isLoadingMore: false, isGone: false } as const;

export function createPreviewing(part: PagePart) {
  let shown = new AbortController();

  function set(next: Partial<PreviewState>): void {
    const { preview } = part.state;
    if (preview) part.change({ preview: { ...preview, ...next } });
  }

  async function show(resource: Resource): Promise<void> {
    shown.abort();
    shown = new AbortController();
    const { signal } = shown;
    const call = part.call(signal);
    part.change({ preview: { ...nothing, resource, status: "loading" } });
    // Watched before the read, so that no change is missed. A resource that cannot be watched is still shown.
    const watch = await part
      .pressmark()
      .watch({ uris: [resource.uri] }, call)
      .catch(() => undefined);
    if (signal.aborted) return;
    try {
      const whole = await readWhole(resource, call);
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
    const wanted = part.state.preview?.contents.length ?? 0;
    const updatedAt = new Date().toISOString();
    try {
      let { next, ...whole } = await readWhole(resource, call);
      while (next !== undefined && whole.contents.length < wanted) {
        const following = await nextPart(next, call);
        whole = { ...whole, contents: [...whole.contents, ...following.contents] };
        next = following.next;
      }
      if (call.signal.aborted) return;
      const rest = next === undefined ? {} : { next };
      const now = changedAt(resource, updatedAt);
      part.change({ preview: { ...nothing, resource: now, status: "ready", ...whole, ...rest, updatedAt } });
    } catch (cause) {
      if (call.signal.aborted) return;
      if (isMissing(cause)) set({ isGone: true });
      else set(failure(cause));
    }
  }

  /** Shows a document by its extracted text, and by its own text if it has any. A picture is shown itself. */
  async function readWhole({ uri, mimeType, meta }: Resource, call: Call): Promise<Whole> {
    const forms = meta?.["pressmark/as"];
    const isPicture = mimeType?.startsWith("image/") === true;
    if (!Array.isArray(forms) || !forms.includes("text") || isPicture || uri.includes("?"))
      return readUnsaid(uri, call);
    const isText = mimeType?.startsWith("text/") === true;
    const original = isText ? (await firstPart(uri, call)).contents : undefined;
    try {
      const taken = await firstPart(`${uri}?as=text`, call);
      return { ...taken, isTaken: true, original };
    } catch (cause) {
      if (call.signal.aborted || isMissing(cause)) throw cause;
      return { contents: original ?? [], isPartial: false, isTaken: false, note: messageOf(cause) };
    }
  }

  /** A resource reached by a link or a search may be a document without metadata. */
  async function readUnsaid(uri: string, call: Call): Promise<Whole> {
    const first = await firstPart(uri, call);
    const [only] = first.contents;
    if (!only || "text" in only.body || !documents.test(only.mimeType ?? "") || uri.includes("?"))
      return { ...first, isTaken: false };
    const taken = await firstPart(`${uri}?as=text`, call).catch(() => undefined);
    const isText = taken?.contents.every(({ body }) => "text" in body) === true;
    return isText ? { ...taken, isTaken: true } : { ...first, isTaken: false };
  }

  async function firstPart(uri: string, call: Call): Promise<Part> {
    try {
      const { contents } = await part.pressmark().read(uri, call);
      const next = nextPage(contents.at(-1), uri);
      return { contents, isPartial: false, next };
    } catch (cause) {
      const first = cause instanceof ResourceError && cause.kind === "too-large" ? firstRange(cause) : undefined;
      if (first === undefined || first === uri) throw cause;
      // The text of a large document may be large itself.
      return first.endsWith("?as=text") ? firstPart(first, call) : nextPart(first, call);
    }
  }

  async function nextPart(uri: string, call: Call): Promise<Part> {
    const { contents } = await part.pressmark().read(uri, call);
    const last = contents.at(-1);
    // Bytes are not shown, so one part is enough.
    const next = last && "text" in last.body ? nextRange(last, uri) : undefined;
    return { contents, isPartial: true, next };
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

  return {
    preview: (resource: Resource) => void show(resource),
    /** Loads the next part of a large resource. */
    previewMore: () => void more(),
  };
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

function isMissing(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}

/** The server's error says how to request a part. */
function firstRange({ details }: ResourceError): string | undefined {
  const ranges = details?.["ranges"];
  const first: unknown = Array.isArray(ranges) ? ranges[0] : undefined;
  return typeof first === "string" ? first : undefined;
}

function nextRange(content: Content, uri: string): string | undefined {
  const next = rangeOf(content)["next"];
  return typeof next === "string" ? `${cutAt(uri, /\?/)}?${next}` : undefined;
}

/** For separate pages, such as rows of a database. A URI with a line range shows only these lines. */
function nextPage(content: Content | undefined, uri: string): string | undefined {
  if (!content || "lines" in rangeOf(content) || "bytes" in rangeOf(content)) return undefined;
  return nextRange(content, uri);
}

function rangeOf({ meta }: Content): Loose {
  return recordOf(meta?.["pressmark/range"]);
}
