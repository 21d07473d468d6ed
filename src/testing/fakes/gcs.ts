/** A fake of the read part of Google Cloud Storage's JSON API, as a local server: there is no local edition of the service. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface FakeObject {
  readonly body: Buffer;
  readonly generation: number;
  readonly updated: string;
  readonly contentType: string;
  readonly contentEncoding: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface FakeGcs {
  readonly endpoint: string;
  /** "GET /storage/…", oldest first. */
  readonly asked: readonly string[];
  /** The headers of the last request. */
  readonly headers: Readonly<Record<string, unknown>>;
  addBucket(bucket: string): void;
  /** Returns the generation. */
  put(
    bucket: string,
    name: string,
    body: string | Uint8Array,
    more?: { contentType?: string; contentEncoding?: string; metadata?: Record<string, string> },
  ): string;
  remove(bucket: string, name: string): void;
  /** Answers the next request with this status, or never, or with garbage. */
  fail(how: number | "hang" | "garbage"): void;
  close(): Promise<void>;
}

export async function startFakeGcs(): Promise<FakeGcs> {
  /** Bucket → name → generations, the newest last. Undefined marks a removed object. */
  const buckets = new Map<string, Map<string, (FakeObject | undefined)[]>>();
  const requested: string[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  let generation = 1_700_000_000_000_000;
  let failing: number | "hang" | "garbage" | undefined;

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://fake");
    requested.push(`${request.method} ${url.pathname}${url.search}`);
    ({ headers } = request);
    const how = failing;
    failing = undefined;
    if (how === "hang") return;
    if (how === "garbage") return void response.end("<html>It works!</html>");
    if (how !== undefined) return say(response, how, { error: { code: how } });
    respond(url, request, response);
  });

  function respond(url: URL, request: IncomingMessage, response: ServerResponse): void {
    const [, , , , bucket, kind, ...way] = url.pathname.split("/").map(decodeURIComponent);
    if (bucket === undefined)
      return say(response, url.searchParams.has("project") ? 200 : 400, {
        items: [...buckets.keys()].sort().map((name) => ({ name })),
      });
    const objects = buckets.get(bucket);
    if (!objects || kind !== "o") return say(response, 404, { error: { code: 404 } });
    // A slash in a name is written %2F, so that a name is one path segment.
    const [name] = way;
    if (name === undefined) return list(objects, url.searchParams, response);
    const wanted = url.searchParams.get("generation");
    const generations = objects.get(name) ?? [];
    const object =
      wanted === null ? generations.at(-1) : generations.find((each) => String(each?.generation) === wanted);
    if (!object) return say(response, 404, { error: { code: 404 } });
    const only = url.searchParams.get("ifGenerationMatch");
    if (only !== null && only !== String(object.generation)) return say(response, 412, { error: { code: 412 } });
    if (url.searchParams.get("alt") !== "media") return say(response, 200, describe(name, object));
    send(object, request, response);
  }

  function list(
    objects: ReadonlyMap<string, readonly (FakeObject | undefined)[]>,
    query: URLSearchParams,
    response: ServerResponse,
  ): void {
    const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter")];
    const offset = query.get("pageToken") ?? query.get("startOffset") ?? "";
    const limit = Math.min(Number(query.get("maxResults") ?? 1000), 1000);
    const names = [...objects].flatMap(([name, all]) => (all.at(-1) && name.startsWith(prefix) ? [name] : []));
    names.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const items: object[] = [];
    const prefixes = new Set<string>();
    for (const name of names) {
      if (Buffer.compare(Buffer.from(name), Buffer.from(offset)) < 0) continue;
      const slash = delimiter === null ? -1 : name.indexOf(delimiter, prefix.length);
      const folded = slash < 0 ? undefined : name.slice(0, slash + 1);
      if (folded !== undefined && prefixes.has(folded)) continue;
      if (items.length + prefixes.size === limit)
        return say(response, 200, { items, prefixes: [...prefixes], nextPageToken: name });
      if (folded === undefined) items.push(describe(name, objects.get(name)!.at(-1)!));
      else prefixes.add(folded);
    }
    say(response, 200, {
      ...(items.length > 0 && { items }),
      ...(prefixes.size > 0 && { prefixes: [...prefixes] }),
    });
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: requested,
    get headers() {
      return headers;
    },
    addBucket: (bucket) => void buckets.set(bucket, new Map()),
    put(bucket, name, body, { contentType = "application/octet-stream", contentEncoding, metadata = {} } = {}) {
      generation += 1;
      const objects = buckets.get(bucket)!;
      const updated = new Date(generation / 1000).toISOString();
      const object = { body: Buffer.from(body), generation, updated, contentType, contentEncoding, metadata };
      objects.set(name, [...(objects.get(name) ?? []), object]);
      return String(generation);
    },
    remove: (bucket, name) => void buckets.get(bucket)?.get(name)?.push(undefined),
    fail: (how) => void (failing = how),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function describe(
  name: string,
  { body, generation, updated, contentType, contentEncoding, metadata }: FakeObject,
): object {
  return {
    kind: "storage#object",
    name,
    size: String(body.length),
    generation: String(generation),
    updated,
    contentType,
    contentEncoding,
    etag: `etag-${generation}`,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
}

/** Like the service, sends a gzip object as stored to clients that accept gzip. */
function send(object: FakeObject, { headers }: IncomingMessage, response: ServerResponse): void {
  const { body, contentType, contentEncoding } = object;
  const given = {
    "Content-Type": contentType,
    ...(contentEncoding !== undefined && { "Content-Encoding": contentEncoding }),
  };
  const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "");
  if (!range) return void response.writeHead(200, given).end(body);
  const first = Number(range[1]);
  const last = Math.min(range[2] ? Number(range[2]) : Infinity, body.length - 1);
  if (first >= body.length) return void response.writeHead(416).end();
  response.writeHead(206, { ...given, "Content-Range": `bytes ${first}-${last}/${body.length}` });
  response.end(body.subarray(first, last + 1));
}

function say(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { "Content-Type": "application/json; charset=UTF-8" }).end(JSON.stringify(value));
}
