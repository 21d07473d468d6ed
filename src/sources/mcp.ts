/** Another MCP server as a source: what it lists, reads, completes and tells, under our own URIs and rules. */
import { notFound, ResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { isPackageMissing } from "../lib/missing-package.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { withoutPlaces } from "../lib/without-locations.ts";
import { directoryType } from "../resources.ts";
import type { Call, Content, Page, Resource, SearchResult } from "../resources.ts";
import { defineSource, pathOf, segmentsOf } from "../source.ts";
import type { Address, Entry, Part, Source, SourceHit, SourceTemplate, Runtime } from "../source.ts";
import type { RemoteServer } from "../client/connect.ts";
import { showsDirectory } from "../client/tree-of.ts";
import { walkPages } from "../client/walk-pages.ts";
import { type Addresses, createAddresses } from "./mcp/addresses.ts";
import { createRelay } from "./mcp/relay.ts";
import { withoutIndex } from "./mcp/sets.ts";
import { createSkillRelay } from "./mcp/skills.ts";
import { toSourceTemplate } from "./mcp/templates.ts";

export interface McpOptions {
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly command?: string | undefined;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly era: "auto" | "modern" | "legacy";
  readonly timeoutMs: number;
}

const neededPackage = "@modelcontextprotocol/client";
/** A list that never ends is not walked for ever. */
const maxPages = 1000;
/** So many listed things are compared when the list changes; where there are more, everyone is told to look again. */
const maxCompared = 20_000;
/** Whoever asks for templates does not wait longer for a server that is slow. */
const templatesMs = 5000;
/** They are learnt again after this, or when the server says that its list changed. */
const templatesFreshMs = 10_000;
const maxDirectories = 10_000;
/** More of a URI is not repeated. */
const maxNamed = 500;
/** More of its instructions does not fit a description. */
const maxInstructions = 4000;

export default defineSource<McpOptions>({
  name: "mcp",
  summary: "What another MCP server serves",
  scheme: "mcp",
  openedOnce: true,
  options: (z) =>
    z
      .strictObject({
        url: z
          .url({ protocol: /^https?$/ })
          .optional()
          .describe("the address of the server"),
        headers: z
          .record(z.string(), z.string())
          .optional()
          .describe("sent with every request, best as references: ${env:NAME}"),
        command: z.string().min(1).optional().describe("the program that is the server, instead of an address"),
        args: z.array(z.string()).default([]).describe("what the program is started with"),
        env: z
          .record(z.string(), z.string())
          .default({})
          .describe("what the program sees of the environment, beside PATH, HOME and the like"),
        cwd: z
          .string()
          .min(1)
          .optional()
          .describe("the folder that the program is started in")
          .meta({ format: "path" }),
        era: z
          .enum(["auto", "modern", "legacy"])
          .default("auto")
          .describe("how to speak with it: found out, or as since 2026-07-28, or as before"),
        timeoutMs: z
          .int()
          .min(1)
          .max(600_000)
          .default(30_000)
          .describe("how long a question may take, with connecting and all attempts"),
      })
      .refine(({ url, command }) => (url === undefined) !== (command === undefined), {
        message: 'needs either "url" or "command"',
      }),

  // A program runs as the person who started this server, with all that is theirs.
  usesCredentials: ({ url, headers, env }) =>
    url === undefined || Object.keys({ ...headers, ...env }).length > 0 || mayHoldSecret(url),

  async open(options, runtime) {
    return createGateway(createUpstream(options, runtime), options, runtime);
  },
});

type Upstream = () => Promise<RemoteServer>;

/** Connected at the first question. What is needed for that is loaded then, too. */
function createUpstream(options: McpOptions, runtime: Runtime): { get: Upstream; close(): Promise<void> } {
  let pressmark: Promise<RemoteServer> | undefined;
  let isClosed = false;

  async function load(): Promise<RemoteServer> {
    const { url, headers, command, args, env, cwd, era, timeoutMs } = options;
    try {
      const { createRemoteServer, httpWays } = await import("../client/connect.ts");
      const said = { era, timeoutMs, now: monotonicMs, ...(headers && { headers }) };
      if (url !== undefined) return createRemoteServer(httpWays(url, said), said, url);
      const { programWay } = await import("../client/stdio.ts");
      const { checkTrust: beforeStart } = runtime;
      const program = {
        command: command ?? "",
        args,
        env,
        ...(cwd !== undefined && { cwd }),
        ...(beforeStart && { beforeStart }),
      };
      return createRemoteServer([programWay(program)], said);
    } catch (cause) {
      if (!isPackageMissing(cause, neededPackage)) throw cause;
      throw new ResourceError(
        "unsupported",
        `the source mcp needs the package "${neededPackage}"; install it with "npm install ${neededPackage}"`,
        { cause },
      );
    }
  }

  return {
    get() {
      if (isClosed) throw new ResourceError("unavailable", "the source was closed", { passing: false });
      pressmark ??= load().catch((cause: unknown) => {
        pressmark = undefined;
        runtime.log("error", "the client for another server cannot be loaded", { cause });
        throw cause;
      });
      return pressmark;
    },
    async close() {
      isClosed = true;
      await (await pressmark?.catch(() => undefined))?.close();
    },
  };
}

/** What the other server says of a failure may name places in its network, or where it sends us. */
function discreet(cause: unknown): unknown {
  if (!(cause instanceof ResourceError) || cause.kind === "not-found") return cause;
  const message = withoutPlaces(cause.message);
  if (message === cause.message) return cause;
  const { kind, passing, details } = cause;
  return new ResourceError(kind, message, { cause, passing, ...(details && { details }) });
}

function createGateway(
  upstream: { get: Upstream; close(): Promise<void> },
  { url, command, timeoutMs }: McpOptions,
  runtime: Runtime,
): Source {
  const addresses = createAddresses();
  const server = url ?? command ?? "";
  let isDown = false;
  let templates: readonly SourceTemplate[] = [];
  /** Our template → theirs. */
  let theirs = new Map<string, string>();
  let learning: Promise<void> | undefined;
  let learntMs = -Infinity;
  /** What the server listed when it was last looked at; undefined until then, and where it lists too much to be kept. */
  let listedUris: ReadonlySet<string | undefined> | undefined;
  const leftOut = new Set<string>();
  /** Those that were heard of lately. */
  const directories = new Set<string>();

  /** Asks, and says once when the server goes and when it is back. */
  async function ask<T>(question: (pressmark: RemoteServer) => Promise<T>): Promise<T> {
    try {
      const answer = await question(await upstream.get());
      if (isDown) runtime.log("info", "the other server is back", { server });
      isDown = false;
      return answer;
    } catch (cause) {
      const isAway = cause instanceof ResourceError && cause.kind === "unavailable";
      if (isAway && !isDown)
        runtime.log("warn", "the other server cannot be reached; it is tried again", { server, cause });
      if (isAway) isDown = true;
      throw discreet(cause);
    }
  }

  function uriOf(at: Address): string {
    const uri = addresses.uri(at);
    if (uri === undefined) throw notFound(at.path);
    return uri;
  }

  function entryOf(resource: Resource): Entry | undefined {
    const { uri, ...said } = resource;
    const at = addresses.of(uri);
    if (at && said.mimeType === directoryType) {
      if (directories.size >= maxDirectories) directories.clear();
      directories.add(at.path);
    }
    if (at) return { ...at, ...said };
    leaveOut("a resource", uri, "its URI cannot be said here");
    return undefined;
  }

  /** Said once of each, and not of all where there are many. */
  function leaveOut(what: string, whole: string, why: string): void {
    const uri = whole.slice(0, maxNamed);
    if (leftOut.size >= 100 || leftOut.has(uri)) return;
    leftOut.add(uri);
    runtime.log("warn", `left out: ${what} of another server, because ${why}`, { server, uri });
  }

  const skills = createSkillRelay({ addresses, ask, leaveOut: (uri, why) => leaveOut("a skill", uri, why) });

  function toEntries({ items, next, failures }: Page<Resource>): Page<Entry> {
    return {
      items: items.map(entryOf).filter((entry) => entry !== undefined),
      ...(next !== undefined && { next }),
      ...(failures && { failures }),
    };
  }

  async function list(cursor: string | undefined, call: Call): Promise<Page<Entry>> {
    const page = await ask((pressmark) => pressmark.list(cursor === undefined ? {} : { cursor }, call));
    return toEntries({ ...page, items: page.items.filter(({ mimeType }) => mimeType !== directoryType) });
  }

  function listed(call: Call): AsyncGenerator<Entry> {
    return walkPages(({ cursor }) => list(cursor, call), { maxPages });
  }

  /** What all the server's URIs begin with: its own directories, as far as it has any. */
  async function heads(call: Call): Promise<Page<Entry>> {
    const found = new Map<string, Entry>();
    for await (const entry of listed(call)) {
      const [head = "", ...rest] = segmentsOf(entry.path);
      const path = pathOf([head]);
      if (rest.length === 0) found.set(path, entry);
      else if (!found.has(path)) found.set(path, { path, name: head, mimeType: directoryType });
    }
    return { items: [...found.values()] };
  }

  async function learn(call: Call): Promise<void> {
    const found: SourceTemplate[] = [];
    const spelled = new Map<string, string>();
    const pages = walkPages((page) => ask((pressmark) => pressmark.templates(page, call)), { maxPages });
    for await (const template of pages) {
      const ours = toSourceTemplate(template);
      if (!ours || spelled.has(ours.template)) continue;
      found.push(ours);
      spelled.set(ours.template, template.uriTemplate);
    }
    // The same array for as long as nothing is another, so that others may remember what they made of it.
    if (JSON.stringify(found) !== JSON.stringify(templates)) templates = found;
    theirs = spelled;
    learntMs = runtime.monotonicMs();
  }

  const relay = createRelay({
    addresses,
    runtime,
    watch: (filter, call) => ask((pressmark) => pressmark.watch(filter, call)),
    async paths(call) {
      learntMs = -Infinity;
      const found = new Set<string>();
      const uris = new Set<string | undefined>();
      for await (const entry of listed(call)) {
        const { path } = entry;
        uris.add(addresses.uri(entry));
        // The directories that it is in come and go with it.
        for (let at = path; at !== "" && !found.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf("/"))))
          found.add(at);
        if (found.size > maxCompared) return (listedUris = undefined);
      }
      listedUris = uris;
      return found;
    },
    isDirectory: (path) => directories.has(path),
  });

  return {
    timeoutMs,

    list: ({ cursor }, call) => list(cursor, call),

    async read(at, call) {
      if (at.path === "") throw new ResourceError("directory", "this is a server; list its children instead");
      const uri = uriOf(at);
      const read = () => ask((pressmark) => pressmark.read(uri, call));
      const answer = await skills.checked(at, call, read).catch((cause: unknown) => {
        throw inOurWords(cause, theirs);
      });
      // What a directory shows of itself names all that is in it; who may see which is for this house to say.
      if (answer.contents.some((content) => showsDirectory(content, uri)))
        throw new ResourceError("directory", "this is a directory; list its children instead");
      const { ttlMs, scope } = answer;
      const contents = withoutIndex(answer.contents, uri, addresses);
      return contents.map((content) => toPart(content, uri, { ttlMs, scope }, addresses));
    },

    async stat(at, call) {
      if (at.path !== "") {
        const uri = uriOf(at);
        const entry = entryOf(await ask((pressmark) => pressmark.stat(uri, call)));
        if (!entry) throw notFound(at.path);
        return { ...entry, ...at };
      }
      // Asked for its first page, a server also says who it is.
      const pressmark = await ask(async (each) => {
        await each.list({}, call).catch(ignoreUnsupported);
        return each;
      });
      const { name, instructions } = pressmark.server ?? {};
      return {
        path: "",
        mimeType: directoryType,
        ...(name !== undefined && { title: name }),
        ...(instructions !== undefined && { description: instructions.slice(0, maxInstructions) }),
      };
    },

    async children(at, { cursor }, call) {
      if (at.path === "") return heads(call);
      const uri = uriOf(at);
      return toEntries(await ask((pressmark) => pressmark.children(uri, cursor === undefined ? {} : { cursor }, call)));
    },

    get templates() {
      return templates;
    },

    async learnTemplates({ caller }) {
      if (runtime.monotonicMs() < learntMs + templatesFreshMs) return;
      // It is for everyone, whoever asks first.
      learning ??= learn({ caller, signal: AbortSignal.timeout(Math.min(templatesMs, timeoutMs)) })
        // What was learnt before still holds, as far as anyone knows.
        .catch(() => undefined)
        .finally(() => {
          learning = undefined;
        });
      await learning;
    },

    async complete({ template, variable, value, given }, call) {
      const known = theirs.get(template.template);
      if (known === undefined) return [];
      const { values } = await ask((pressmark) =>
        pressmark.complete({ template: known, variable, value, given }, call),
      );
      return values.map((each) => ({ value: each }));
    },

    async search({ text, limit, within }, call) {
      const below = within === undefined || within === "" ? undefined : addresses.uri({ path: within });
      if (within !== undefined && within !== "" && below === undefined) return [];
      const found = await ask((pressmark) =>
        pressmark.search({ text, limit, ...(below !== undefined && { within: below }) }, call),
      ).catch((cause: unknown) => {
        ignoreUnsupported(cause);
        return { hits: [], ready: 0 } as SearchResult;
      });
      const hits = found.hits.flatMap(({ resource, ...hit }): SourceHit[] => {
        const entry = entryOf(resource);
        return entry ? [{ ...hit, entry }] : [];
      });
      const failure = found.failures?.map(({ message }) => withoutPlaces(message))[0];
      return { hits, ready: found.ready, ...(failure !== undefined && { failure }) };
    },

    skills: skills.skills,
    skill: skills.skill,
    lists: (at) => listedUris?.has(addresses.uri(at)) ?? true,
    follow: (at, call) => relay.follow(at, call.signal),
    watch: ({ signal }) => relay.watch(signal),
    async close() {
      await relay.close();
      await upstream.close();
    },
  };
}

function ignoreUnsupported(cause: unknown): undefined {
  if (cause instanceof ResourceError && cause.kind === "unsupported") return undefined;
  throw cause;
}

function toPart(
  { uri, body, mimeType, meta }: Content,
  asked: string,
  freshness: NonNullable<Part["freshness"]>,
  addresses: Addresses,
): Part {
  const at = uri === asked ? undefined : addresses.of(uri);
  return {
    body,
    freshness,
    ...(mimeType !== undefined && { mimeType }),
    ...(meta && { meta }),
    ...(at && { at }),
  };
}

/** What is too large there comes with what to read instead, said without its URIs. */
function inOurWords(cause: unknown, theirs: ReadonlyMap<string, string>): unknown {
  if (!(cause instanceof ResourceError) || cause.details === undefined) return cause;
  const { template, ranges, uri: _uri, ...facts } = cause.details;
  const ours = [...theirs].find(([, each]) => each === template)?.[0];
  const queries = Array.isArray(ranges) ? ranges.map((range) => String(range).replace(/^[^?]*\?/, "")) : undefined;
  const details = { ...facts, ...(ours !== undefined && { template: ours }), ...(queries && { ranges: queries }) };
  return new ResourceError(cause.kind, cause.message, { cause, passing: cause.passing, details });
}
