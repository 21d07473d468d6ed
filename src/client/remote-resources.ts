/** Resources over MCP: implements the same interface with requests to a server of either era. */
import type { Client, RequestOptions, StandardSchemaV1 } from "@modelcontextprotocol/client";
import { invalid, notFound, ResourceError } from "../errors.ts";
import type { Call, Freshness, Page, PageRequest, ReadResult, Resource, Resources, SkillResult } from "../resources.ts";
import { callTool, childrenByTool, searchByTool, toolNames, type ToolUse } from "./tool-fallback.ts";
import { isRemoteObject } from "./remote-error.ts";
import { restOfPage, toContent, toFreshness, toResource, toResources, toSkill, toTemplate } from "./from-wire.ts";
import type { AnswerCache, CachedAnswerKey } from "./answer-cache.ts";
import type { Reconnecting } from "./reconnect.ts";
import { childrenByUri, nameIn, parentOf, showsDirectory, toDirectory } from "./tree-of.ts";
import { walkPages } from "./walk-pages.ts";

export interface RemoteOptions {
  readonly link: Reconnecting;
  readonly kept: AnswerCache;
  /** Key of cached responses. */
  readonly server: string;
  readonly identity: string;
  /** True if no request identifies the caller. Otherwise nothing is public, whatever the server says. */
  readonly isAnonymous: boolean;
}

const skillsExtension = "io.modelcontextprotocol/skills";
const unkept: Freshness = { ttlMs: 0, scope: "private" };
/** Limit on the search of a list for one resource. */
const searching = { maxPages: 1000 };

type Loose = Readonly<Record<string, unknown>>;

interface Answered<T> {
  readonly value: T;
  readonly freshness: Freshness;
}

type Question<T> = (client: Client, options: RequestOptions) => Promise<Answered<T>>;

export function createRemoteResources({
  link,
  kept,
  server,
  identity,
  isAnonymous,
}: RemoteOptions): Omit<Resources, "watch"> & ToolUse {
  let listFreshness = unkept;

  function freshnessOf(result: unknown): Freshness {
    const said = toFreshness(result);
    return isAnonymous ? said : { ...said, scope: "private" };
  }

  /** Returns a cached response, or requests one from the server. */
  async function answer<T>(
    what: Omit<CachedAnswerKey, "server" | "identity"> & { readonly hasCursor?: boolean },
    call: Call,
    ask: Question<T>,
  ): Promise<T> {
    const { question, isList, uri } = what;
    const key: CachedAnswerKey = { server, identity, question, isList, ...(uri !== undefined && { uri }) };
    const known = kept.get<T>(key);
    if (known) return known.answer;
    const settle = kept.expect(key);
    try {
      // With a cursor, the cursor may be the cause.
      const answered = await link.ask(ask, call, what.hasCursor ? undefined : uri);
      settle(answered);
      return answered.value;
    } catch (cause) {
      settle();
      throw cause;
    }
  }

  function list(ask: PageRequest, call: Call): Promise<Page<Resource>> {
    return answer({ question: format("list", ask), isList: true }, call, async (client, options) => {
      const result = await client.request({ method: "resources/list", params: pageParams(ask) }, options);
      listFreshness = freshnessOf(result);
      return { value: { items: result.resources.map(toResource), ...restOfPage(result) }, freshness: listFreshness };
    });
  }

  async function children(uri: string, ask: PageRequest, call: Call): Promise<Page<Resource>> {
    const question = format("children", ask);
    const page = await answer<Page<Resource> | undefined>(
      { question, isList: true, uri, hasCursor: ask.cursor !== undefined },
      call,
      async (client, options) => {
        if (!readsDirectories(client)) return { value: await byTool(client, uri, ask, options), freshness: unkept };
        const result = await askFor(client, "resources/directory/read", { uri, ...pageParams(ask) }, options);
        const value = { items: toResources(result["resources"]), ...restOfPage(result) };
        return { value, freshness: freshnessOf(result) };
      },
    );
    if (page) return page;
    if (ask.cursor !== undefined) throw invalid("the cursor is not valid for this list");
    return { items: await childrenByUri(everything(call), uri) };
  }

  function everything(call: Call): AsyncGenerator<Resource> {
    return walkPages((ask) => list(ask, call), searching);
  }

  async function read(uri: string, call: Call): Promise<ReadResult> {
    const what = { question: "read", isList: false, uri };
    const left = kept.get({ server, identity, ...what })?.leftMs;
    const found = await answer<ReadResult>(what, call, async (client, options) => {
      const result = await client.request({ method: "resources/read", params: { uri } }, options);
      // An empty result means not found; some servers return it for missing resources.
      if (result.contents.length === 0) throw notFound(uri);
      const freshness = freshnessOf(result);
      return { value: { contents: result.contents.map(toContent), ...freshness }, freshness };
    });
    return left === undefined ? found : { ...found, ttlMs: left };
  }

  /** No revision has a method for this: uses the directory or the list, or else a read. */
  async function stat(uri: string, call: Call): Promise<Resource> {
    const hasDirectories = await link.ask(async (client) => readsDirectories(client), call);
    const parent = hasDirectories ? parentOf(uri) : undefined;
    let isAbove = false;
    for await (const resource of parent === undefined ? everything(call) : siblings(parent, call)) {
      if (resource.uri === uri) return resource;
      isAbove ||= resource.uri.startsWith(`${uri}/`);
    }
    try {
      return await describe(uri, call);
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
      if (hasDirectories) await children(uri, {}, call);
      else if (!isAbove) throw cause;
      return toDirectory(uri);
    }
  }

  async function* siblings(directory: string, call: Call): AsyncGenerator<Resource> {
    try {
      yield* walkPages((ask) => children(directory, ask, call), searching);
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
    }
  }

  async function describe(uri: string, call: Call): Promise<Resource> {
    const said = { uri, name: nameIn(uri) };
    try {
      const [content] = (await read(uri, call)).contents;
      if (content && showsDirectory(content, uri)) return toDirectory(uri);
      const mimeType = content?.mimeType;
      return { ...said, ...(mimeType !== undefined && { mimeType }) };
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "too-large") throw cause;
      const size = cause.details?.["size"];
      return { ...said, ...(typeof size === "number" && { size }) };
    }
  }

  return {
    list,
    children,
    read,
    stat,

    templates: (ask, call) =>
      answer({ question: format("templates", ask), isList: true }, call, async (client, options) => {
        const result = await client.request({ method: "resources/templates/list", params: pageParams(ask) }, options);
        const items = result.resourceTemplates.map(toTemplate);
        return { value: { items, ...restOfPage(result) }, freshness: freshnessOf(result) };
      }),

    complete: ({ template, variable, value, given }, call) =>
      link.ask(async (client, options) => {
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
        return {
          values: values.slice(0, 100),
          ...(total !== undefined && { total }),
          ...(more !== undefined && { more }),
        };
      }, call),

    search: (ask, call) => link.ask((client, options) => searchByTool(client, ask, options), call, ask.within),

    skills: (ask, call) =>
      answer({ question: format("skills", ask), isList: true }, call, async (client, options) => {
        if (!hasSkills(client)) return { value: { items: [] }, freshness: unkept };
        const result = await askFor(client, "skills/list", pageParams(ask), options);
        const found = Array.isArray(result["skills"]) ? result["skills"] : [];
        const items = found.map(toSkill).filter((skill) => skill !== undefined);
        return { value: { items, ...restOfPage(result) }, freshness: freshnessOf(result) };
      }),

    skill: (uri, call) =>
      link.ask(
        async (client, options): Promise<SkillResult> => {
          if (!hasSkills(client)) throw notFound(uri);
          const result = await askFor(client, "skills/get", { uri }, options);
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

    tools: (call) => link.ask(toolNames, call),
    useTool: (name, args, call) => link.ask((client, options) => callTool(client, name, args, options), call),
  };
}

/** Undefined if no tool does it. */
async function byTool(
  client: Client,
  uri: string,
  ask: PageRequest,
  options: RequestOptions,
): Promise<Page<Resource> | undefined> {
  try {
    return await childrenByTool(client, uri, ask, options);
  } catch (cause) {
    if (cause instanceof ResourceError && cause.kind === "unsupported") return undefined;
    throw cause;
  }
}

/** Sends a request that the official client has no method for. */
function askFor(client: Client, method: string, params: Loose, options: RequestOptions): Promise<Loose> {
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

function readsDirectories(client: Client): boolean {
  const extension: unknown = client.getServerCapabilities()?.extensions?.[skillsExtension];
  return isRemoteObject(extension) && extension["directoryRead"] === true;
}

function hasSkills(client: Client): boolean {
  return skillsExtension in (client.getServerCapabilities()?.extensions ?? {});
}

function isMissing(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}

function format(question: string, { cursor }: PageRequest): string {
  return cursor === undefined ? question : `${question} ${cursor}`;
}

function pageParams({ cursor }: PageRequest): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}
