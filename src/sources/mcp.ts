/** Another MCP server as a source: its lists, contents, completions and notifications, under our URIs and access rules. */
import type { z as Zod } from "zod";
import { besidesOthers } from "../lib/besides-others.ts";
import { intOption } from "../lib/int-option.ts";
import { lastingFailure, notFound, ResourceError } from "../errors.ts";
import { monotonicMs } from "../lib/monotonic-ms.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { withoutPlaces } from "../lib/without-locations.ts";
import { directoryType, hasChildrenKey } from "../resources.ts";
import type { Call, Caller, Content, Page, Resource, SearchResult } from "../resources.ts";
import { defineSource, pathOf, segmentsOf } from "../source.ts";
import type { Address, Entry, Part, Source, SourceHit, SourceTemplate, Runtime } from "../source.ts";
import type { RemoteServer } from "../client/connect.ts";
import { showsDirectory } from "../client/tree-of.ts";
import { walkPages } from "../client/walk-pages.ts";
import { type Addresses, createAddresses } from "./mcp/addresses.ts";
import { authOptions } from "./mcp/auth-options.ts";
import { createPerCaller } from "./mcp/per-caller.ts";
import { createRelay } from "./mcp/relay.ts";
import { createRelayed } from "./mcp/relayed.ts";
import { createRelayedConnection, type RelayedConnection } from "./mcp/relayed-connection.ts";
import { withoutIndex } from "./mcp/sets.ts";
import { createSkillRelay } from "./mcp/skills.ts";
import { toSourceTemplate } from "./mcp/templates.ts";
import { traced, tracedFetch } from "./mcp/traced.ts";
import { createUpstreamAuth, subjectTokenOf } from "./mcp/upstream-auth.ts";

/** Stops at this many pages of an endless list. */
const maxPages = 1000;
/** Up to this many entries are compared when the list changes; beyond that, a change of everything is announced. */
const maxCompared = 20_000;
/** Longest wait for the templates of a slow server. */
const templatesMs = 5000;
/** Templates are fetched again after this time, or when the server announces a list change. */
const templatesFreshMs = 10_000;
const maxDirectories = 10_000;
/** Longest part of a URI that is logged. */
const maxNamed = 500;
/** Longest part of its instructions that is used as a description. */
const maxInstructions = 4000;

function passedOption(z: typeof Zod, what: "tools" | "prompts") {
  return z
    .union([z.boolean(), z.array(z.string().min(1))])
    .default(false)
    .describe(
      `Whether to pass on the server's ${what} to callers who may see all of the mount, or the names of those to pass on`,
    );
}

function mcpOptions(z: typeof Zod) {
  return z
    .strictObject({
      url: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe("URL of the server"),
      headers: z
        .record(z.string(), z.string())
        .optional()
        .describe("HTTP headers sent with every request; write secrets as references: ${env:NAME}"),
      auth: authOptions(z)
        .optional()
        .describe("Sign in to the server with OAuth, as the operator or as this server; never as a caller"),
      command: z.string().min(1).optional().describe("Program to start as the server, instead of a URL"),
      args: z.array(z.string()).default([]).describe("Arguments of the program"),
      env: z
        .record(z.string(), z.string())
        .default({})
        .describe("Environment variables for the program, in addition to PATH, HOME and similar"),
      cwd: z.string().min(1).optional().describe("Working folder of the program").meta({ format: "path" }),
      era: z
        .enum(["auto", "modern", "legacy"])
        .default("auto")
        .describe("Protocol generation: detected, or since 2026-07-28, or before that"),
      tools: passedOption(z, "tools"),
      prompts: passedOption(z, "prompts"),
      timeoutMs: intOption(z, 1, 600_000, 30_000).describe(
        "Time limit for a request, including connecting and all attempts, in milliseconds",
      ),
    })
    .refine(({ url, command }) => (url === undefined) !== (command === undefined), {
      message: 'needs either "url" or "command"',
      ...besidesOthers,
    })
    .refine(({ auth, command }) => auth === undefined || command === undefined, {
      path: ["auth"],
      message: 'works only with "url"; pass credentials to a program in "env"',
      ...besidesOthers,
    })
    .refine(({ auth, headers = {} }) => !auth || !Object.keys(headers).some((name) => /^authorization$/i.test(name)), {
      path: ["auth"],
      message: 'replaces the header "Authorization"; leave one of them out',
    });
}

export type McpOptions = Zod.output<ReturnType<typeof mcpOptions>>;

export default defineSource<McpOptions>({
  name: "mcp",
  summary: "Resources of another MCP server",
  scheme: "mcp",
  openedOnce: true,
  options: mcpOptions,

  // A program runs with all rights of the user who started this server.
  usesCredentials: ({ url, headers, auth, env }) =>
    url === undefined || auth !== undefined || Object.keys({ ...headers, ...env }).length > 0 || mayHoldSecret(url),

  async open(options, runtime) {
    const { auth, timeoutMs } = options;
    const relays = options.tools !== false || options.prompts !== false;
    const open = (caller?: Caller) => {
      const relayed = relays ? createRelayedConnection(timeoutMs, runtime) : undefined;
      return createGateway(createUpstream(options, runtime, relayed, caller), options, runtime, relayed);
    };
    if (auth?.grant !== "token_exchange") return open();
    return createPerCaller(
      (caller) => {
        // Nothing is requested for a caller whom the other server could not know.
        subjectTokenOf(caller, auth);
        return open(caller);
      },
      { timeoutMs, relays },
    );
  },
});

type Upstream = () => Promise<RemoteServer>;

/** Connects, and loads the client package, at the first request. */
function createUpstream(
  options: McpOptions,
  runtime: Runtime,
  relayed: RelayedConnection | undefined,
  caller?: Caller,
): { get: Upstream; close(): Promise<void> } {
  let pressmark: Promise<RemoteServer> | undefined;
  let isClosed = false;

  async function load(): Promise<RemoteServer> {
    const { url, headers, auth, command, args, env, cwd, era, timeoutMs } = options;
    const { createRemoteServer, httpWays } = await import("../client/connect.ts");
    const connectionOptions = { era, timeoutMs, now: monotonicMs, headers, ...relayed?.connectOptions };
    if (url !== undefined) {
      const signedIn = auth && (await createUpstreamAuth({ ...auth, url, timeoutMs }, runtime, caller));
      const overHttp = { ...connectionOptions, ...signedIn };
      const ways = httpWays(url, { ...overHttp, fetch: tracedFetch(url, overHttp.fetch) });
      return createRemoteServer(ways.map(traced), overHttp, url);
    }
    const { programWay } = await import("../client/program.ts");
    const { checkTrust: beforeStart } = runtime;
    const program = { command: command ?? "", args, env, cwd, beforeStart };
    return createRemoteServer([traced(programWay(program))], connectionOptions);
  }

  return {
    get() {
      if (isClosed) throw lastingFailure("the source was closed");
      pressmark ??= load().catch((cause: unknown) => {
        pressmark = undefined;
        runtime.log("error", "the source cannot be used", { cause });
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

/** Error messages of the other server may reveal addresses in its network or redirect targets. */
function discreet(cause: unknown): unknown {
  if (!(cause instanceof ResourceError) || cause.kind === "not-found") return cause;
  const message = withoutPlaces(cause.message);
  if (message === cause.message) return cause;
  const { kind, passing, details } = cause;
  return new ResourceError(kind, message, { cause, passing, details });
}

function createGateway(
  upstream: { get: Upstream; close(): Promise<void> },
  { timeoutMs, tools, prompts }: McpOptions,
  runtime: Runtime,
  connection: RelayedConnection | undefined,
) {
  const addresses = createAddresses();
  let isDown = false;
  /** True if the server declares no resources. */
  let isEmpty = false;
  let templates: readonly SourceTemplate[] = [];
  /** Our template → the server's template. */
  let theirs = new Map<string, string>();
  let learning: Promise<void> | undefined;
  let learntMs = -Infinity;
  /** The URIs of the last list; undefined before the first list, and when there are too many to store. */
  let listedUris: ReadonlySet<string | undefined> | undefined;
  const leftOut = new Set<string>();
  /** Recently seen directories. */
  const directories = new Set<string>();

  /** Sends a request, and logs once when the server becomes unreachable and once when it is back. */
  async function send<T>(request: (pressmark: RemoteServer) => Promise<T>, call?: Call): Promise<T> {
    try {
      const pressmark = await upstream.get();
      const work = () => request(pressmark);
      const answer = await (connection && call ? connection.calls.meanwhile(call, work) : work());
      if (isDown) runtime.log("info", "the other server is reachable again");
      isDown = false;
      return answer;
    } catch (cause) {
      const isAway = cause instanceof ResourceError && cause.kind === "unavailable";
      if (isAway && !isDown) runtime.log("warn", "the other server cannot be reached; retrying", { cause });
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
    const { uri, ...connectionOptions } = resource;
    const at = addresses.of(uri);
    if (at && connectionOptions.mimeType === directoryType) {
      if (directories.size >= maxDirectories) directories.clear();
      directories.add(at.path);
    }
    if (at) return { ...at, ...withChildren(connectionOptions) };
    leaveOut("a resource", uri, "its URI cannot be expressed below this mount");
    return undefined;
  }

  /** Logged once per URI or name, with a limit on the total. */
  function leaveOut(what: string, whole: string, why: string, member: "uri" | "name" = "uri"): void {
    const left = whole.slice(0, maxNamed);
    if (leftOut.size >= 100 || leftOut.has(left)) return;
    leftOut.add(left);
    runtime.log("warn", `left out: ${what} of another server, because ${why}`, { [member]: left });
  }

  const skills = createSkillRelay({ addresses, send, leaveOut: (uri, why) => leaveOut("a skill", uri, why) });

  function toEntries({ items, next, failures }: Page<Resource>): Page<Entry> {
    return {
      items: items.map(entryOf).filter((entry) => entry !== undefined),
      next,
      failures,
    };
  }

  async function list(cursor: string | undefined, call: Call): Promise<Page<Entry>> {
    const page = await send((pressmark) => pressmark.list(cursor === undefined ? {} : { cursor }, call), call).catch(
      noPage,
    );
    // Some servers list a resource twice.
    const items = new Map(page.items.map((item) => [item.uri, item]));
    return toEntries({ ...page, items: [...items.values()].filter(({ mimeType }) => mimeType !== directoryType) });
  }

  /** A server of tools alone is no failure. Logged once. */
  function noPage(cause: unknown): Page<Resource> {
    ignoreUnsupported(cause);
    if (!isEmpty) runtime.log(tools || prompts ? "info" : "warn", "the other server serves no resources");
    isEmpty = true;
    return { items: [] };
  }

  function listed(call: Call): AsyncGenerator<Entry> {
    return walkPages(({ cursor }) => list(cursor, call), { maxPages });
  }

  /** The top directories: the common beginnings of the server's URIs. */
  async function heads(call: Call): Promise<Page<Entry>> {
    const found = new Map<string, Entry>();
    for await (const entry of listed(call)) {
      const [head = "", ...rest] = segmentsOf(entry.path);
      const path = pathOf([head]);
      const known = found.get(path);
      const isAbove = known?.mimeType === directoryType || known?.hasChildren;
      if (rest.length === 0) found.set(path, isAbove ? { ...entry, hasChildren: true } : entry);
      else if (!known) found.set(path, { path, name: head, mimeType: directoryType });
      else if (!isAbove) found.set(path, { ...known, hasChildren: true });
    }
    return { items: [...found.values()] };
  }

  async function learn(call: Call): Promise<void> {
    const found: SourceTemplate[] = [];
    const byTemplate = new Map<string, string>();
    const pages = walkPages((page) => send((pressmark) => pressmark.templates(page, call), call), { maxPages });
    for await (const template of pages) {
      const ours = toSourceTemplate(template);
      if (!ours || byTemplate.has(ours.template)) continue;
      found.push(ours);
      byTemplate.set(ours.template, template.uriTemplate);
    }
    // Keeps the same array while nothing changes, so that callers can cache derived values.
    if (JSON.stringify(found) !== JSON.stringify(templates)) templates = found;
    theirs = byTemplate;
    learntMs = runtime.monotonicMs();
  }

  const relay = createRelay({
    addresses,
    runtime,
    watch: (filter, call) => send((pressmark) => pressmark.watch(filter, call)),
    async paths(call) {
      learntMs = -Infinity;
      const found = new Map<string, string>();
      const uris = new Set<string | undefined>();
      for await (const entry of listed(call)) {
        const { path } = entry;
        const uri = addresses.uri(entry);
        uris.add(uri);
        // Its parent directories appear and disappear with it.
        for (let at = path; at !== "" && !found.has(at); at = at.slice(0, Math.max(0, at.lastIndexOf("/"))))
          found.set(at, "");
        found.set(path, `${found.get(path) ?? ""}${uri}\n`);
        if (Math.max(found.size, uris.size) > maxCompared) return (listedUris = undefined);
      }
      listedUris = uris;
      return found;
    },
    isDirectory: (path) => directories.has(path),
  });

  const relayed =
    connection &&
    createRelayed({
      tools,
      prompts,
      timeoutMs,
      connection,
      addresses,
      runtime,
      send,
      entryOf,
      leaveOut: (what, name, why) => leaveOut(what, name, why, "name"),
    });

  return {
    timeoutMs,
    // No revision promises an order.
    isUnordered: true,
    ...(relayed && { relayed }),

    list: ({ cursor }, call) => list(cursor, call),

    async read(at, call) {
      if (isServer(at)) throw new ResourceError("directory", "this is a server; list its children instead");
      const uri = uriOf(at);
      const read = () => send((pressmark) => pressmark.read(uri, call), call);
      const answer = await skills.checked(at, call, read).catch((cause: unknown) => {
        throw inOurWords(cause, theirs);
      });
      // The content of a directory names all its children; this server's policy decides who may see which.
      if (answer.contents.some((content) => showsDirectory(content, uri)))
        throw new ResourceError("directory", "this is a directory; list its children instead");
      const { ttlMs, scope } = answer;
      const contents = withoutIndex(answer.contents, uri, addresses);
      return contents.map((content) => toPart(content, uri, { ttlMs, scope }, addresses));
    },

    async stat(at, call) {
      if (!isServer(at)) {
        const uri = uriOf(at);
        const entry = entryOf(await send((pressmark) => pressmark.stat(uri, call), call));
        if (!entry) throw notFound(at.path);
        return { ...entry, ...at };
      }
      // The first page also provides the identity of the server.
      const pressmark = await send(async (each) => {
        await each.list({}, call).catch(ignoreUnsupported);
        return each;
      }, call);
      const { name, instructions } = pressmark.server ?? {};
      return {
        path: "",
        mimeType: directoryType,
        title: name,
        ...(instructions !== undefined && { description: instructions.slice(0, maxInstructions) }),
      };
    },

    async children(at, { cursor }, call) {
      if (isServer(at)) return heads(call);
      const uri = uriOf(at);
      const page = toEntries(
        await send((pressmark) => pressmark.children(uri, cursor === undefined ? {} : { cursor }, call), call),
      );
      // The directories of a server that has none are derived from URIs, where "a/" means "a".
      const isOther = at.path.endsWith("/") && page.items.some(({ path }) => !path.startsWith(`${at.path}/`));
      if (isOther) throw notFound(at.path);
      return page;
    },

    get templates() {
      return templates;
    },

    async learnTemplates({ caller }) {
      if (runtime.monotonicMs() < learntMs + templatesFreshMs) return;
      // The result is shared by all callers.
      learning ??= learn({ caller, signal: AbortSignal.timeout(Math.min(templatesMs, timeoutMs)) })
        // On failure the earlier templates stay valid.
        .catch(() => undefined)
        .finally(() => {
          learning = undefined;
        });
      await learning;
    },

    async complete({ template, variable, value, given }, call) {
      const known = theirs.get(template.template);
      if (known === undefined) return [];
      const { values } = await send(
        (pressmark) => pressmark.complete({ template: known, variable, value, given }, call),
        call,
      );
      return values.map((each) => ({ value: each }));
    },

    async search({ text, limit, within }, call) {
      const below = within === undefined || within === "" ? undefined : addresses.uri({ path: within });
      if (within !== undefined && within !== "" && below === undefined) return [];
      const found = await send((pressmark) => pressmark.search({ text, limit, within: below }, call), call).catch(
        (cause: unknown): SearchResult => {
          // Nothing is found where nothing is, and where the caller may see nothing.
          if (cause instanceof ResourceError && cause.kind === "not-found" && below !== undefined)
            return { hits: [], ready: 1 };
          ignoreUnsupported(cause);
          return { hits: [], ready: isEmpty ? 1 : 0 };
        },
      );
      const hits = found.hits.flatMap(({ resource, ...hit }): SourceHit[] => {
        const entry = entryOf(resource);
        return entry ? [{ ...hit, entry }] : [];
      });
      const failure = found.failures?.map(({ message }) => withoutPlaces(message))[0];
      return { hits, ready: found.ready, failure };
    },

    skills: skills.skills,
    skill: skills.skill,
    lists: (at) => listedUris?.has(addresses.uri(at)) ?? true,
    follow: (at, call) => relay.follow(at, call.signal),
    watch: ({ signal }) => relay.watch(signal),
    async close() {
      relayed?.close();
      await relay.close();
      await upstream.close();
    },
  } satisfies Source;
}

function isServer({ path, query }: Address): boolean {
  return path === "" && Object.keys(query ?? {}).length === 0;
}

/** What tells of children becomes part of the entry: this server's policy decides who learns of it. */
function withChildren({ meta, ...resource }: Omit<Resource, "uri">): Omit<Entry, "path"> {
  if (!meta) return resource;
  const { [hasChildrenKey]: hasChildren, "pressmark/children": children, ...others } = meta;
  return {
    ...resource,
    ...(Object.keys(others).length > 0 && { meta: others }),
    ...(hasChildren === true && { hasChildren }),
    ...(typeof children === "number" && { children }),
  };
}

function ignoreUnsupported(cause: unknown): undefined {
  if (cause instanceof ResourceError && cause.kind === "unsupported") return undefined;
  throw cause;
}

function toPart(
  { uri, body, mimeType, meta }: Content,
  requested: string,
  freshness: NonNullable<Part["freshness"]>,
  addresses: Addresses,
): Part {
  const at = uri === requested ? undefined : addresses.of(uri);
  return {
    body,
    freshness,
    mimeType,
    meta,
    at,
  };
}

/** Replaces the server's URIs in an error about a resource that is too large. */
function inOurWords(cause: unknown, theirs: ReadonlyMap<string, string>): unknown {
  if (!(cause instanceof ResourceError) || cause.details === undefined) return cause;
  const { template, ranges, uri: _uri, ...facts } = cause.details;
  const ours = [...theirs].find(([, each]) => each === template)?.[0];
  const queries = Array.isArray(ranges) ? ranges.map((range) => String(range).replace(/^[^?]*\?/, "")) : undefined;
  const details = { ...facts, ...(ours !== undefined && { template: ours }), ...(queries && { ranges: queries }) };
  return new ResourceError(cause.kind, cause.message, { cause, passing: cause.passing, details });
}
