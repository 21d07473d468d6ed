/** Records what clients were given by tools, reads and prompts: never the contents, in memory, bounded, for the owner only. */
import { estimateTokens, estimateTokensOfBytes } from "../lib/estimate-tokens.ts";
import type { ContentBlock } from "../protocol/blocks.ts";
import { isJsonObject, member } from "../protocol/message.ts";
import type { ClientInfo, Given, RequestObserver } from "../protocol/request-observer.ts";
import type { Content } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { largestShare } from "./largest-share.ts";

/** A passage of a pack, or a hit. */
interface DeliveredItem {
  readonly uri: string;
  readonly lines?: string;
  readonly tokens?: number;
  readonly why?: readonly string[];
}

export interface Delivery {
  readonly kind: "gather" | "search" | "read" | "prompt";
  /** Counts up, so that a page can tell entries apart. */
  readonly id: number;
  readonly at: string;
  readonly caller: string;
  readonly client: string;
  readonly version?: string;
  /** Requested by the owner's picker. */
  readonly isPicker?: true;
  /** The task, the query, or the name of the prompt. */
  readonly text?: string;
  /** The URI that was read, and its range. */
  readonly uri?: string;
  readonly part?: string;
  /** An estimate, except for gathering. */
  readonly tokens: number;
  /** The receipt, the hits, or the resources of a prompt. */
  readonly items?: readonly DeliveredItem[];
  /** Number of items that are not listed here. */
  readonly moreItems?: number;
  /** Number of candidates that the receipt leaves out. */
  readonly leftOut?: number;
}

export interface DeliveryLog extends Required<Pick<RequestObserver, "gave">> {
  /** Most recent first, with secrets masked. */
  deliveries(): Promise<readonly Delivery[]>;
  /** Calls back on every change, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
}

interface Recorded {
  readonly delivery: Delivery;
  readonly size: number;
  masked?: Delivery;
}

const maxDeliveries = 300;
const maxTotalLength = 512 * 1024;
/** The picker searches while a person types: its requests do not displace those of models. */
const maxOfPicker = 50;
const pickerName = "pressmark-picker";
const maxItems = 60;
/** All items of an entry together. */
const maxItemsLength = 16 * 1024;
const maxCallerLength = 200;
/** A text is cut to the second length after its secrets are masked: half a secret would not be recognized. */
const maxRecordedLength = 20_000;
const maxTextLength = 4000;
const maxUriLength = 2048;
const maxReasonLength = 300;
const maxWhy = 6;
const isRange = /^[\d\s,-]{1,40}$/;
/** Counting a longer text by its characters would delay the response. */
const maxCountedLength = 64 * 1024;
/** Reads of the server's own resources are not recorded. */
const own = /^(?:pressmark|ui):/i;

export function createDeliveryLog({ now }: Pick<Runtime, "now">): DeliveryLog {
  /** Oldest first. */
  let recorded: Recorded[] = [];
  let total = 0;
  let last = 0;
  const listeners = new Set<() => void>();

  function drop(entry: Recorded | undefined): void {
    if (!entry) return;
    recorded = recorded.filter((each) => each !== entry);
    total -= entry.size;
  }

  function add(delivery: Delivery): void {
    const entry = { delivery, size: JSON.stringify(delivery).length };
    recorded.push(entry);
    total += entry.size;
    const ofPicker = recorded.filter((each) => each.delivery.isPicker);
    if (ofPicker.length > maxOfPicker) drop(ofPicker[0]);
    if (recorded.length > maxDeliveries) drop(largestShare(recorded, callerOf)[0]);
    while (total > maxTotalLength) drop(largestShare(recorded, callerOf, ({ size }) => size)[0]);
    for (const listener of listeners) listener();
  }

  return {
    gave({ caller, name, version }: ClientInfo, given) {
      const delivered = toDelivery(given);
      if (!delivered) return;
      last += 1;
      const at = new Date(now()).toISOString();
      add({
        id: last,
        at,
        caller: cut(caller.id, maxCallerLength),
        client: name,
        ...(version !== undefined && { version }),
        // Any client can have this name.
        ...(name === pickerName && caller.owner && { isPicker: true }),
        ...delivered,
      });
    },

    async deliveries() {
      // Loaded only if someone looks.
      const { maskSecrets } = await import("../lib/secrets.ts");
      return recorded
        .toReversed()
        .map((entry) => (entry.masked ??= toMasked(entry.delivery, (text) => maskSecrets(text).text)));
    },

    follow(hear, signal) {
      if (signal.aborted) return;
      listeners.add(hear);
      signal.addEventListener("abort", () => listeners.delete(hear), { once: true });
    },
  };
}

function callerOf({ delivery }: Recorded): string {
  return delivery.caller;
}

type Delivered = Omit<Delivery, "id" | "at" | "caller" | "client" | "version" | "isPicker">;

function toDelivery(given: Given): Delivered | undefined {
  if ("contents" in given) return own.test(given.uri) ? undefined : toRead(given.uri, given.contents);
  if ("messages" in given) {
    const blocks = given.messages.map(({ content }) => content);
    const uris = blocks.flatMap((block) => uriOfBlock(block) ?? []);
    const listed = uris.map((uri) => ({ uri: cut(uri, 2 * maxUriLength) }));
    return { kind: "prompt", text: cut(given.prompt), tokens: tokensOfBlocks(blocks), ...firstItems(listed) };
  }
  const { tool, args, result } = given;
  const { content, structuredContent } = result;
  const textOf = (name: string) => {
    const value = member(args, name);
    return typeof value === "string" ? value : undefined;
  };
  switch (tool) {
    case "read_resource": {
      const [uri, part] = [textOf("uri") ?? "", textOf("lines") ?? textOf("bytes")];
      if (own.test(uri.trim())) return undefined;
      const tokens = tokensOfBlocks(content);
      return { kind: "read", uri: cut(uri.trim()), ...(part && isRange.test(part) && { part }), tokens };
    }
    case "search_resources":
      return {
        kind: "search",
        text: cut(textOf("query") ?? ""),
        tokens: tokensOfBlocks(content),
        ...itemsIn(structuredContent?.["results"]),
      };
    case "gather_context": {
      const { tokens, leftOut, moreLeftOut } = structuredContent ?? {};
      const changed = textOf("changed");
      return {
        kind: "gather",
        text: cut(textOf("task") ?? `changed since ${changed ?? ""}`),
        tokens: numberOf(tokens),
        ...itemsIn(structuredContent?.["included"]),
        leftOut: (Array.isArray(leftOut) ? leftOut.length : 0) + numberOf(moreLeftOut),
      };
    }
    default:
      return undefined;
  }
}

function toRead(uri: string, contents: readonly Content[]): Delivered {
  const tokens = contents.reduce((sum, { body }) => sum + ("text" in body ? tokensOf(body.text) : 0), 0);
  return { kind: "read", uri: cut(uri), tokens };
}

function itemsIn(value: unknown): Pick<Delivery, "items" | "moreItems"> {
  const items = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return firstItems(
    items.map(({ uri, lines, tokens, why }) => ({
      uri: cut(String(uri), 2 * maxUriLength),
      ...(typeof lines === "string" && { lines: cut(lines, 40) }),
      ...(typeof tokens === "number" && { tokens }),
      ...(Array.isArray(why) && { why: why.slice(0, maxWhy).map((each) => cut(String(each), 2 * maxReasonLength)) }),
    })),
  );
}

function firstItems(items: readonly DeliveredItem[]): Pick<Delivery, "items" | "moreItems"> {
  let length = 0;
  const listed = items.slice(0, maxItems).filter((item) => (length += JSON.stringify(item).length) <= maxItemsLength);
  return { items: listed, ...(items.length > listed.length && { moreItems: items.length - listed.length }) };
}

function tokensOfBlocks(blocks: readonly ContentBlock[]): number {
  return blocks.reduce((sum, block) => {
    if (block.type === "text") return sum + tokensOf(block.text);
    const isText = block.type === "embedded" && "text" in block.content.body;
    return sum + (isText && "text" in block.content.body ? tokensOf(block.content.body.text) : 0);
  }, 0);
}

function tokensOf(text: string): number {
  return text.length > maxCountedLength ? estimateTokensOfBytes(Buffer.byteLength(text)) : estimateTokens(text);
}

function uriOfBlock(block: ContentBlock): string | undefined {
  if (block.type === "embedded") return block.content.uri;
  return block.type === "link" ? block.resource.uri : undefined;
}

/** Reasons quote words of the task: if it has a secret, they are left out. */
function toMasked(delivery: Delivery, mask: (text: string) => string): Delivery {
  const { client, version, text = "", uri, items } = delivery;
  const masked = mask(text);
  const toItem = ({ why, ...item }: DeliveredItem): DeliveredItem => ({
    ...item,
    uri: cut(mask(item.uri), maxUriLength),
    ...(why && { why: masked === text ? why.map((each) => cut(mask(each), maxReasonLength)) : [] }),
  });
  return {
    ...delivery,
    client: mask(client),
    ...(version !== undefined && { version: mask(version) }),
    ...(delivery.text !== undefined && { text: cut(masked, maxTextLength) }),
    ...(uri !== undefined && { uri: cut(mask(uri), maxUriLength) }),
    ...(items && { items: items.map(toItem) }),
  };
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function cut(text: string, maxLength = maxRecordedLength): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).toWellFormed()}…` : text;
}
