/** Chosen resources: counts, orders, formats, saves and opens them. */
import { ResourceError } from "../errors.ts";
import { estimateTokens, estimateTokensOfBytes } from "../lib/estimate-tokens.ts";
import type { Resource } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";
import { optionalNumber, optionalText, recordOf, recordsIn } from "./loose.ts";
import { asMarkdown, asXml, trayCounts, has, movedTo, type Read, toggled, withAll } from "./tray.ts";

export type Form = "markdown" | "xml" | "uris";

const countedAtOnce = 4;
const setsUri = "set://";

export function createChoosing(part: PagePart) {
  const taken = new Set<string>();
  let underCount = 0;

  /** A few at a time, because a person may choose hundreds at once. */
  async function countTray(): Promise<void> {
    if (underCount >= countedAtOnce) return;
    underCount += 1;
    const tried = new Set<string>();
    for (;;) {
      const waiting = part.state.tray.find(({ resource, tokens }) => tokens === undefined && !taken.has(resource.uri));
      if (!waiting || tried.has(waiting.resource.uri)) break;
      const { uri } = waiting.resource;
      tried.add(uri);
      taken.add(uri);
      const tokens = await cost(waiting.resource);
      taken.delete(uri);
      part.change({ tray: trayCounts(part.state.tray, uri, tokens) });
    }
    underCount -= 1;
  }

  function countAll(): void {
    for (let at = 0; at < countedAtOnce; at += 1) void countTray();
  }

  async function cost(resource: Resource): Promise<number | "none"> {
    try {
      const text = await textOf(resource);
      return text === undefined ? "none" : estimateTokens(text);
    } catch (cause) {
      const size = cause instanceof ResourceError && cause.kind === "too-large" ? cause.details?.["size"] : undefined;
      return typeof size === "number" ? estimateTokensOfBytes(size) : "none";
    }
  }

  /** Undefined for binary content. For a document, its extracted text. */
  async function textOf({ uri, mimeType = "", meta }: Resource): Promise<string | undefined> {
    const forms = meta?.["pressmark/as"];
    const isDocument = !mimeType.startsWith("text/") && Array.isArray(forms) && forms.includes("text");
    const { contents } = await part
      .pressmark()
      .read(isDocument && !uri.includes("?") ? `${uri}?as=text` : uri, part.call());
    const texts = contents.flatMap(({ body }) => ("text" in body ? [body.text] : []));
    return texts.length === 0 ? undefined : texts.join("\n");
  }

  async function loadSets(): Promise<void> {
    const { sets } = part.state;
    part.change({ sets: { items: sets.items, status: "loading" } });
    try {
      const { items } = await part.pressmark().children(setsUri, {}, part.call());
      part.change({ sets: { items, status: "ready" } });
    } catch (cause) {
      // Without any saved set, the URI may not exist.
      const isNone = cause instanceof ResourceError && ["not-found", "invalid", "unsupported"].includes(cause.kind);
      part.change({
        sets: isNone ? { items: [], status: "ready" } : { items: [], status: "failed", problem: messageOf(cause) },
      });
    }
  }

  return {
    toggle(resource: Resource): void {
      part.change({ tray: toggled(part.state.tray, resource) });
      if (has(part.state.tray, resource.uri)) void countTray();
    },
    /** Adds new ones at the end. */
    choose(resources: readonly Resource[]): void {
      part.change({ tray: withAll(part.state.tray, resources) });
      countAll();
    },
    /** Moves to a position from 0. */
    move: (uri: string, to: number) => part.change({ tray: movedTo(part.state.tray, uri, to) }),
    clearTray: () => part.change({ tray: [] }),
    setBudget: (budget: number) => part.change({ budget }),
    /** The chosen resources as text, and the number of those without text. */
    async written(form: Form): Promise<{ readonly text: string; readonly left: number }> {
      const { tray } = part.state;
      if (form === "uris") return { text: tray.map(({ resource }) => `${resource.uri}\n`).join(""), left: 0 };
      const read: Read[] = [];
      for (const { resource } of tray) {
        const text = await textOf(resource).catch(() => undefined);
        if (text !== undefined) read.push({ resource, text });
      }
      return { text: form === "xml" ? asXml(read) : asMarkdown(read), left: tray.length - read.length };
    },
    loadSets: () => void loadSets(),
    /** Throws with a message for the person. */
    async saveSet(name: string): Promise<void> {
      const { useTool } = part.pressmark();
      if (!useTool) throw new ResourceError("unsupported", "this server cannot save sets");
      await useTool("save_set", { name, uris: part.state.tray.map(({ resource }) => resource.uri) }, part.call());
      await loadSets();
    },
    /** Replaces the chosen resources with the members of the set. */
    async openSet({ uri }: Resource): Promise<void> {
      const { contents } = await part.pressmark().read(uri, part.call());
      const [first] = contents;
      part.change({ tray: withAll([], membersIn(first && "text" in first.body ? first.body.text : "")) });
      countAll();
    },
  };
}

/** The members of a set, from its first content. */
function membersIn(json: string): readonly Resource[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return [];
  }
  return recordsIn(recordOf(parsed)["resources"]).flatMap(({ uri, name, title, mimeType, size }): Resource[] =>
    typeof uri === "string"
      ? [
          {
            uri,
            name: optionalText(name) ?? uri,
            title: optionalText(title),
            mimeType: optionalText(mimeType),
            size: optionalNumber(size),
          },
        ]
      : [],
  );
}
