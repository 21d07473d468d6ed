/** The tool `list_resources`: lists a directory, or everything that matches a pattern. */
import { invalid } from "../../errors.ts";
import { createGlob, type Glob, GlobError } from "../../lib/glob.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { shortLine } from "../../lib/on-one-line.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import {
  type Call,
  directoryType,
  hasChildrenKey,
  type MountFailure,
  type Page,
  type PageRequest,
  type Resource,
  type Resources,
} from "../../resources.ts";
import { countArgument, readArguments, textArgument } from "./arguments.ts";
import { decodePath, type NamedMount, pathBelowMount, trimSlash } from "./mounts.ts";
import type { ReadingTool } from "./reading-tools.ts";
import { withSuggestions } from "./suggest.ts";

const maxUriLength = 16 * 1024;
const maxCursorLength = 64 * 1024;
const maxTextBytes = 48 * 1024;
/** Limits of one call that compares with a pattern; the rest follows with the cursor. */
const maxLooked = 20_000;
const maxLookedMs = 500;
/** Pages are small, so that other requests run in between. */
const maxPage = 250;
const limits = { initial: 100, most: 500 };

export const listResources: ReadingTool = {
  name: "list_resources",
  title: "List resources",

  describe: ({ server, mounts, offers }) =>
    [
      `List what the server ${server} holds before you say that something is missing, or guess a URI: ${mounts}.`,
      'With "within" it gives what stands directly in a directory, with "glob" everything whose path fits, and without either all files in order.',
      ...(offers("search_resources") ? ["To find something by what it says, use search_resources instead."] : []),
      ...(offers("read_resource") ? ["Pass a URI on to read_resource exactly as it stands here."] : []),
    ].join(" "),

  inputSchema: {
    type: "object",
    properties: {
      within: { type: "string", description: "URI of a directory" },
      glob: {
        type: "string",
        description: 'Pattern of paths below "within", or below each mount, as in "**/*.md" or "src/*.ts"',
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: limits.most,
        description: `Maximum number per call. Default: ${limits.initial}`,
      },
      cursor: { type: "string", description: "Cursor of the previous result, to continue with the same arguments" },
    },
    additionalProperties: false,
  },

  outputSchema: {
    type: "object",
    properties: {
      resources: {
        type: "array",
        items: {
          type: "object",
          properties: {
            uri: { type: "string" },
            name: { type: "string" },
            title: { type: "string" },
            description: { type: "string" },
            mimeType: { type: "string", description: `${directoryType} for a directory` },
            size: { type: "integer", description: "Size in bytes" },
          },
          required: ["uri", "name"],
        },
      },
      cursor: { type: "string", description: "Present if there may be more" },
      failures: { type: "array", items: { type: "string" }, description: "Mounts that could not be listed" },
    },
    required: ["resources"],
  },

  async call(args, { resources, mounts, offers }, call) {
    const { within, glob, limit, cursor } = readArguments({
      within: () => trimSlash(textArgument(args, "within", maxUriLength), mounts),
      glob: () => {
        const pattern = textArgument(args, "glob", 256);
        return pattern === undefined ? undefined : toGlob(pattern);
      },
      limit: () => countArgument(args, "limit", limits),
      cursor: () => textArgument(args, "cursor", maxCursorLength),
    });
    const advice = offers("search_resources") ? "call search_resources to find it" : "call list_resources without it";
    try {
      const walk = await walkOf(within, glob, { resources, mounts }, call);
      return toAnswer(await take(walk, cursor, limit));
    } catch (cause) {
      throw within === undefined ? cause : await withSuggestions(cause, within, { resources, mounts, advice }, call);
    }
  },
};

const never = () => false;

interface Walk {
  page(ask: PageRequest): Promise<Page<Resource>>;
  fits(resource: Resource): boolean;
  /** Whether nothing later can match. */
  isPast(resource: Resource): boolean;
}

async function walkOf(
  within: string | undefined,
  glob: Glob | undefined,
  { resources, mounts }: { readonly resources: Resources; readonly mounts: readonly NamedMount[] },
  call: Call,
): Promise<Walk> {
  const everything = (ask: PageRequest) => resources.list(ask, call);
  if (within === undefined) {
    const fits = ({ uri, name }: Resource) => !glob || glob.matches(pathBelowMount(mounts, uri) ?? name);
    return { page: everything, fits, isPast: never };
  }
  if (!glob) return { page: (ask) => resources.children(within, ask, call), fits: () => true, isPast: never };
  const [child] = (await resources.children(within, { limit: 1 }, call)).items;
  if (!child) return { page: async () => ({ items: [] }), fits: never, isPast: never };
  // Uses the server's form of the URI, which may differ from the model's.
  const start = child.uri.slice(0, child.uri.lastIndexOf("/") + 1);
  const fits = ({ uri }: Resource): boolean => {
    const path = uri.startsWith(start) ? decodePath(uri.slice(start.length)) : undefined;
    return path !== undefined && glob.matches(path);
  };
  const unordered = mounts.find(({ base, source }) => source?.isUnordered && start.startsWith(base));
  if (unordered) {
    const page = (ask: PageRequest) => resources.list({ ...ask, mount: unordered.name }, call);
    return { page, fits, isPast: never };
  }
  let isInside = false;
  return {
    page: everything,
    fits,
    // Everything below a directory follows it immediately.
    isPast({ uri }) {
      const isHere = uri.startsWith(start);
      if (isHere) isInside = true;
      return isInside && !isHere;
    },
  };
}

interface Taken {
  readonly items: readonly Resource[];
  readonly next: string | undefined;
  readonly failures: readonly MountFailure[];
  /** Number compared with the pattern, if the end was not reached. */
  readonly looked: number | undefined;
}

/**
 * Takes as many as fit. If a page holds more, it is requested again with a smaller limit, so that its cursor is exactly
 * behind the last one returned.
 */
async function take({ page, fits, isPast }: Walk, from: string | undefined, limit: number): Promise<Taken> {
  const items: Resource[] = [];
  const failures = new Map<string, MountFailure>();
  let room = maxTextBytes;
  let cursor = from;
  let looked = 0;
  let size = limit;
  const began = performance.now();
  const turn = createTimeSlices();
  // Only comparing takes long; unfiltered pages are few.
  while (looked < maxLooked && (items.length === looked || performance.now() - began < maxLookedMs)) {
    const { items: all, next, failures: failed = [] } = await page({ limit: size, cursor });
    const end = endOf(all);
    if (end < all.length && end > 0 && end < size) {
      size = end;
      continue;
    }
    for (const failure of failed) failures.set(failure.mount, failure);
    // Remote servers may return more than requested; then all are returned.
    for (const resource of all) {
      if (!fits(resource)) continue;
      items.push(resource);
      room -= weigh(resource);
    }
    looked += Math.max(1, all.length);
    cursor = next;
    await turn();
    const isOver = next === undefined || all.some(isPast);
    if (isOver) return { items, next: undefined, failures: [...failures.values()], looked: undefined };
    if (items.length >= limit || room <= 0) break;
    size = Math.max(limit, Math.min(maxPage, 2 * all.length));
  }
  const isSearching = items.length < limit && room > 0;
  return { items, next: cursor, failures: [...failures.values()], looked: isSearching ? looked : undefined };

  /** Number of items of the page that can be returned. */
  function endOf(all: readonly Resource[]): number {
    let left = limit - items.length;
    let space = room;
    for (const [index, resource] of all.entries()) {
      if (!fits(resource)) continue;
      left -= 1;
      space -= weigh(resource);
      if (left < 0 || (space < 0 && index > 0)) return index;
    }
    return all.length;
  }
}

function toAnswer({ items, next, failures, looked }: Taken) {
  const lines = items.map(sayResource);
  if (items.length === 0 && looked === undefined) lines.push("Nothing matches.");
  if (looked !== undefined)
    lines.push(`${items.length} of ${looked} compared resources match; there are more to compare.`);
  for (const { mount, message } of failures) lines.push(`${mount} could not be listed: ${message}.`);
  if (next !== undefined)
    lines.push(`There is more: call list_resources again with the same arguments and cursor "${next}".`);
  return {
    content: [{ type: "text" as const, text: lines.join("\n") }],
    structuredContent: {
      resources: items.map((item) => {
        const { uri, name, title, mimeType, size } = item;
        const described = { uri, name, title, description: shortDescription(item), mimeType, size };
        return isBoth(item) ? { ...described, _meta: { [hasChildrenKey]: true } } : described;
      }),
      cursor: next,
      ...(failures.length > 0 && { failures: failures.map(({ mount, message }) => `${mount}: ${message}`) }),
    },
  };
}

function sayResource(resource: Resource): string {
  const { uri, mimeType, size } = resource;
  const title = ownTitle(resource);
  const isDirectory = mimeType === directoryType;
  const facts = [
    ...(title === undefined ? [] : [title.replaceAll(/\s+/gu, " ")]),
    ...(isDirectory ? ["directory"] : mimeType === undefined ? [] : [mimeType]),
    ...(size === undefined || isDirectory ? [] : [`${size} bytes`]),
    ...(isBoth(resource) ? ["has resources below it"] : []),
  ];
  const description = shortDescription(resource);
  return `${uri}${facts.length > 0 ? ` (${facts.join(", ")})` : ""}${description === undefined ? "" : `: ${description}`}`;
}

/** True for a resource that has children as well. */
function isBoth({ meta }: Resource): boolean {
  return meta?.[hasChildrenKey] === true;
}

const maxDescription = 300;

function shortDescription({ description }: Resource): string | undefined {
  return description === undefined ? undefined : shortLine(description, maxDescription);
}

function weigh(resource: Resource): number {
  const { uri, name, title = "" } = resource;
  return Buffer.byteLength(`${uri}${name}${title}${shortDescription(resource) ?? ""}`) + 32;
}

function toGlob(pattern: string): Glob {
  try {
    return createGlob(pattern.replace(/^(?:\.?\/)+/, ""));
  } catch (cause) {
    if (cause instanceof GlobError) throw invalid(`"glob" cannot be used: ${cause.message}`);
    throw cause;
  }
}
