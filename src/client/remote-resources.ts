/** Resources over MCP: implements the same interface with requests to a server of either era. */
import type { Client, RequestOptions, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { invalid, notFound, ResourceError, unsupported } from "../errors.ts";
import { createListFilter, filterKey } from "../lib/list-filter.ts";
import type {
  Call,
  Content,
  FilteredPageRequest,
  Freshness,
  ListFilter,
  Page,
  PageRequest,
  ReadResult,
  Resource,
  Resources,
  SkillResult,
} from "../resources.ts";
import { childrenByTool, searchByTool, type ToolUse, useTool } from "./tool-fallback.ts";
import { createRemoteTools, type RemoteTools } from "./remote-tools.ts";
import { isRemoteObject } from "./is-remote-object.ts";
import { restOfPage, toContent, toFreshness, toResource, toResources, toSkill, toTemplate } from "./from-wire.ts";
import type { AnswerCache, CachedAnswerKey } from "./answer-cache.ts";
import { conditionalReads, declares, listFilters, skillsExtension } from "./extensions.ts";
import type { Reconnecting } from "./reconnect.ts";
import { childrenByUri, nameIn, parentOf, showsDirectory, toDirectory } from "./tree-of.ts";
import { walkPages } from "./walk-pages.ts";

interface RemoteOptions {
  readonly link: Reconnecting;
  readonly kept: AnswerCache;
  /** Key of cached responses. */
  readonly server: string;
  readonly identity: string;
  /** True if no request identifies the caller. Otherwise nothing is public, whatever the server says. */
  readonly isAnonymous: boolean;
  /** Milliseconds that never go back. */
  readonly now: () => number;
}

const validatorKey = "pressmark/validator";
const unchangedKey = "pressmark/unchanged";
const maxValidator = 1024;
const uncached: Freshness = { ttlMs: 0, scope: "private" };
/** Limit on the search of a list for one resource. */
const searching = { maxPages: 1000 };

type Loose = Readonly<Record<string, unknown>>;

interface Answered<T> {
  readonly value: T;
  readonly freshness: Freshness;
  readonly validator?: string;
}

type RemoteRequest<T> = (client: Client, options: RequestOptions) => Promise<Answered<T>>;

export function createRemoteResources({
  link,
  kept,
  server,
  identity,
  isAnonymous,
  now,
}: RemoteOptions): Omit<Resources, "watch"> & ToolUse & RemoteTools {
  const tools = createRemoteTools(link, now);
  let listFreshness = uncached;

  function freshnessOf(result: unknown): Freshness {
    const freshness = toFreshness(result);
    return isAnonymous ? freshness : { ...freshness, scope: "private" };
  }

  /** Returns a cached response, or requests one from the server. */
  async function fetchCached<T>(
    what: Omit<CachedAnswerKey, "server" | "identity"> & { readonly hasCursor?: boolean },
    call: Call,
    request: RemoteRequest<T>,
  ): Promise<T> {
    const { requestKey, isList, uri } = what;
    const key: CachedAnswerKey = { server, identity, requestKey, isList, uri };
    const known = kept.get<T>(key);
    if (known) return known.answer;
    const store = kept.expect(key);
    try {
      // With a cursor, the cursor may be the cause.
      const response = await link.send(request, call, what.hasCursor ? undefined : uri);
      store(response);
      return response.value;
    } catch (cause) {
      store();
      throw cause;
    }
  }

  function list(request: FilteredPageRequest, call: Call): Promise<Page<Resource>> {
    return fetchCached({ requestKey: format("list", request), isList: true }, call, async (client, options) => {
      requireResources(client);
      const params = { ...pageParams(request), ...filterParams(request, client) };
      const result = await client.request({ method: "resources/list", params }, options);
      listFreshness = freshnessOf(result);
      const matches = createListFilter(request.filter ?? {});
      const items = result.resources.filter(({ name, uri }) => matches(name, uri)).map(toResource);
      return { value: { items, ...restOfPage(result) }, freshness: listFreshness };
    });
  }

  function hasDirectories(call: Call): Promise<boolean> {
    return link.send(async (client) => readsDirectories(client), call);
  }

  async function children(uri: string, request: PageRequest, call: Call): Promise<Page<Resource>> {
    if (!(await hasDirectories(call))) return childrenWithoutDirectories(uri, request, call);
    const requestKey = format("children", request);
    return fetchCached(
      { requestKey, isList: true, uri, hasCursor: request.cursor !== undefined },
      call,
      async (client, options) => {
        const result = await sendRequest(client, "resources/directory/read", { uri, ...pageParams(request) }, options);
        const value = { items: toResources(result["resources"]), ...restOfPage(result) };
        return { value, freshness: freshnessOf(result) };
      },
    );
  }

  /** Uses the server's tool for it, or else derives the children from the list. */
  async function childrenWithoutDirectories(uri: string, request: PageRequest, call: Call): Promise<Page<Resource>> {
    const page = await childrenByTool(tools, uri, request, call).catch((cause: unknown) => {
      if (cause instanceof ResourceError && cause.kind === "unsupported") return undefined;
      throw cause;
    });
    if (page) return page;
    if (request.cursor !== undefined) throw invalid("the cursor is not valid for this list");
    return { items: await childrenByUri(everything(call), uri) };
  }

  function everything(call: Call): AsyncGenerator<Resource> {
    return walkPages((request) => list(request, call), searching);
  }

  async function read(uri: string, call: Call): Promise<ReadResult> {
    const what = { requestKey: "read", isList: false, uri };
    const left = kept.get({ server, identity, ...what })?.leftMs;
    const found = await fetchCached<ReadResult>(what, call, async (client, options) => {
      const known = declares(client, conditionalReads)
        ? kept.getStale<ReadResult>({ server, identity, ...what })
        : undefined;
      const params = known ? { uri, _meta: { [validatorKey]: known.validator } } : { uri };
      const result = await client.request({ method: "resources/read", params }, options).catch((cause: unknown) => {
        const { data } = cause as { readonly data?: unknown };
        const needsInput = isRemoteObject(data) && data["resultType"] === "input_required";
        throw needsInput
          ? unsupported("this resource needs an answer from the user, which is not supported in a read")
          : cause;
      });
      const { [validatorKey]: validator, [unchangedKey]: isUnchanged } = result._meta ?? {};
      if (known && isUnchanged === true && validator === known.validator)
        return readAnswer(known.answer.contents, freshnessOf(result), validator);
      // An empty result means not found; some servers return it for missing resources.
      if (result.contents.length === 0) throw notFound(uri);
      return readAnswer(result.contents.map(toContent), freshnessOf(result), validator);
    });
    return left === undefined ? found : { ...found, ttlMs: left };
  }

  /** No revision has a method for this: uses the directory or the list, or else a read. */
  async function stat(uri: string, call: Call): Promise<Resource> {
    const isTree = await hasDirectories(call);
    const parent = isTree ? parentOf(uri) : undefined;
    let isAbove = false;
    for await (const resource of parent === undefined ? everything(call) : siblings(parent, call)) {
      if (resource.uri === uri) return resource;
      isAbove ||= resource.uri.startsWith(`${uri}/`);
    }
    try {
      return await describe(uri, call);
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
      if (isTree) await children(uri, {}, call);
      else if (!isAbove) throw cause;
      return toDirectory(uri);
    }
  }

  async function* siblings(directory: string, call: Call): AsyncGenerator<Resource> {
    try {
      yield* walkPages((request) => children(directory, request, call), searching);
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
    }
  }

  async function describe(uri: string, call: Call): Promise<Resource> {
    const resource = { uri, name: nameIn(uri) };
    try {
      const [content] = (await read(uri, call)).contents;
      if (content && showsDirectory(content, uri)) return toDirectory(uri);
      return { ...resource, mimeType: content?.mimeType };
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "too-large") throw cause;
      const size = cause.details?.["size"];
      return { ...resource, ...(typeof size === "number" && { size }) };
    }
  }

  return {
    list,
    children,
    read,
    stat,

    templates: (request, call) =>
      fetchCached({ requestKey: format("templates", request), isList: true }, call, async (client, options) => {
        requireResources(client);
        const params = { ...pageParams(request), ...filterParams(request, client) };
        const result = await client.request({ method: "resources/templates/list", params }, options);
        const matches = createListFilter(request.filter ?? {});
        const items = result.resourceTemplates
          .filter(({ name, uriTemplate }) => matches(name, uriTemplate))
          .map(toTemplate);
        return { value: { items, ...restOfPage(result) }, freshness: freshnessOf(result) };
      }),

    complete: ({ template, variable, value, given }, call) =>
      link.send(async (client, options) => {
        if (!client.getServerCapabilities()?.completions) return { values: [] };
        const { completion } = await client.complete(
          {
            ref: { type: "ref/resource", uri: template },
            argument: { name: variable, value },
            ...(Object.keys(given).length > 0 && { context: { arguments: { ...given } } }),
          },
          options,
        );
        const { values, total, hasMore: more } = completion;
        return { values: values.slice(0, 100), total, more };
      }, call),

    async search(request, call) {
      await link.send(async (client) => requireResources(client), call);
      return searchByTool(tools, request, call);
    },

    skills: (request, call) =>
      fetchCached({ requestKey: format("skills", request), isList: true }, call, async (client, options) => {
        if (!declares(client, skillsExtension)) return { value: { items: [] }, freshness: uncached };
        const result = await sendRequest(client, "skills/list", pageParams(request), options);
        const found = Array.isArray(result["skills"]) ? result["skills"] : [];
        const items = found.map(toSkill).filter((skill) => skill !== undefined);
        return { value: { items, ...restOfPage(result) }, freshness: freshnessOf(result) };
      }),

    skill: (uri, call) =>
      link.send(
        async (client, options): Promise<SkillResult> => {
          if (!declares(client, skillsExtension)) throw notFound(uri);
          const result = await sendRequest(client, "skills/get", { uri }, options);
          const skill = toSkill(result["skill"]);
          if (!skill) throw new ResourceError("unexpected", "the server sent an invalid skill");
          return { skill, ...freshnessOf(result) };
        },
        call,
        uri,
      ),

    get listFreshness() {
      return listFreshness;
    },

    ...tools,
    tools: async (call) => (await tools.listTools(call)).map(({ name }) => name),
    useTool: (name, args, call) => useTool(tools, name, args, call),
  };
}

/** Sends a request that the official client has no method for. */
function sendRequest(client: Client, method: string, params: Loose, options: RequestOptions): Promise<Loose> {
  return client.request({ method, params: { ...params } }, anyObject, options);
}

/** Such a response is only known to be an object. */
const anyObject: StandardSchemaV1<unknown, Loose> = {
  "~standard": {
    version: 1,
    vendor: "pressmark",
    validate: (value) => (isRemoteObject(value) ? { value } : { issues: [{ message: "must be an object" }] }),
  },
};

function readAnswer(contents: readonly Content[], freshness: Freshness, validator: unknown): Answered<ReadResult> {
  return {
    value: { contents, ...freshness },
    freshness,
    ...(typeof validator === "string" && validator.length <= maxValidator && { validator }),
  };
}

/** Some servers do not respond to methods of a capability that they do not declare. */
function requireResources(client: Client): void {
  const capabilities = client.getServerCapabilities();
  // Unknown after the connection is lost; the request then fails because of that.
  if (capabilities && !capabilities.resources) throw unsupported("the server serves no resources");
}

function readsDirectories(client: Client): boolean {
  const extension: unknown = client.getServerCapabilities()?.extensions?.[skillsExtension];
  return isRemoteObject(extension) && extension["directoryRead"] === true;
}

function isMissing(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}

function format(request: string, { cursor, filter }: FilteredPageRequest): string {
  const requestKey = `${request}${filterKey(filter)}`;
  return cursor === undefined ? requestKey : `${requestKey} ${cursor}`;
}

/** A server that does not declare filters sends everything, and the client alone filters. */
function filterParams({ filter }: FilteredPageRequest, client: Client): { filter?: ListFilter } {
  return filter && declares(client, listFilters) ? { filter } : {};
}

function pageParams({ cursor }: PageRequest): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}
