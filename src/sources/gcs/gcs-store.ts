/** Google Cloud Storage through its JSON API. */
import { createHash } from "node:crypto";
import { invalid, lastingFailure, ResourceError, unavailable } from "../../errors.ts";
import { skipEmpty } from "../../backends/objects/list-page.ts";
import type { ObjectHead, ObjectStore, ObjectWhere, StoredObject } from "../../backends/objects/object-store.ts";
import {
  encodeStrictly,
  originOf,
  packingOf,
  refusalFor,
  send,
  takeBody,
  takeSome,
} from "../../backends/objects/request.ts";
import type { GoogleIdentity } from "./identity.ts";

interface GcsOptions {
  readonly endpoint: string;
  /** Needed to list all buckets. */
  readonly project: string | undefined;
  /** Undefined for requests without credentials. */
  readonly identity: GoogleIdentity | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** An object as the API describes it. Numbers are texts. */
interface Described {
  readonly name?: string;
  readonly size?: string;
  readonly generation?: string;
  readonly updated?: string;
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly etag?: string;
  readonly md5Hash?: string;
  readonly crc32c?: string;
  readonly storageClass?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

const objectFields =
  "name,size,generation,updated,contentType,contentEncoding,etag,md5Hash,crc32c,storageClass,metadata";
const maxJsonBytes = 32 * 1024 * 1024;
const maxBucketPages = 100;

interface Listed {
  readonly items?: readonly Described[];
  readonly prefixes?: readonly string[];
  readonly nextPageToken?: string;
}

export function createGcsStore({ endpoint, project, identity, timeoutMs, now }: GcsOptions): ObjectStore {
  const origin = originOf(endpoint);
  const apiOf = (...way: readonly string[]) =>
    new URL(`/storage/v1/b${way.map((step) => `/${encodeStrictly(step)}`).join("")}`, origin);

  async function request(url: URL, signal: AbortSignal, range?: string): Promise<Response> {
    const headers = new Headers(identity ? await identity.headers(url.href) : {});
    if (range !== undefined) headers.set("Range", range);
    // Otherwise a gzip object is unpacked before it is sent, and differs from its stated size.
    headers.set("Accept-Encoding", "gzip");
    const response = await send(new Request(url, { headers }), { timeoutMs }, signal);
    if (response.ok) return response;
    await response.body?.cancel();
    // An object with an invalid name does not exist.
    throw refusalFor(response.status === 400 ? 404 : response.status);
  }

  async function json<T>(url: URL, signal: AbortSignal): Promise<T> {
    const text = (await takeBody(await request(url, signal), maxJsonBytes, signal)).toString("utf8");
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("no object");
      return value as T;
    } catch (cause) {
      throw unavailable("the store returned an invalid object description", cause);
    }
  }

  function objectUrl({ bucket, key, version, mark }: ObjectWhere, query: Readonly<Record<string, string>>): URL {
    const url = apiOf(bucket, "o", key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (version !== undefined) url.searchParams.set("generation", version);
    if (mark !== undefined) url.searchParams.set("ifGenerationMatch", mark);
    return url;
  }

  async function describe(where: ObjectWhere, signal: AbortSignal): Promise<ObjectHead> {
    if (where.version !== undefined && !/^\d{1,20}$/.test(where.version))
      throw new ResourceError("not-found", "no such generation");
    return headOf(await json<Described>(objectUrl(where, { fields: objectFields }), signal));
  }

  return {
    async buckets(signal) {
      if (project === undefined) throw invalid("set buckets, or the project whose buckets are served");
      const names: string[] = [];
      let token: string | undefined;
      // A page holds a thousand; the limit exceeds the buckets of any project.
      for (let pages = 0; pages < maxBucketPages; pages += 1) {
        const url = apiOf();
        url.searchParams.set("project", project);
        url.searchParams.set("fields", "items(name),nextPageToken");
        if (token !== undefined) url.searchParams.set("pageToken", token);
        const page = await json<Listed>(url, signal);
        names.push(...listOf(page.items).flatMap(({ name }) => (typeof name === "string" ? [name] : [])));
        token = page.nextPageToken;
        if (token === undefined) return names;
      }
      throw lastingFailure("the store returns pages of buckets without end");
    },

    list: ({ bucket, prefix, folded, after, limit }, signal) =>
      skipEmpty(async (pageToken) => {
        const url = apiOf(bucket, "o");
        const query = url.searchParams;
        query.set("fields", "items(name,size,generation,updated),prefixes,nextPageToken");
        // The offset is inclusive: request one more and skip the known object.
        query.set("maxResults", String(after === undefined ? limit : limit + 1));
        if (prefix !== "") query.set("prefix", prefix);
        if (folded) query.set("delimiter", "/");
        if (after !== undefined) query.set("startOffset", after);
        if (pageToken !== undefined) query.set("pageToken", pageToken);
        const page = await json<Listed>(url, signal);
        const isLater = (name: unknown) => typeof name === "string" && name !== after;
        return {
          objects: listOf(page.items)
            .filter(({ name }) => isLater(name))
            .map(toObject),
          prefixes: listOf(page.prefixes).filter(isLater),
          more: page.nextPageToken !== undefined,
          token: page.nextPageToken,
        };
      }),

    head: describe,

    async get(where, signal) {
      const head = await describe(where, signal);
      const same = objectUrl({ ...where, mark: head.mark }, { alt: "media" });
      return {
        ...head,
        bytes: async (most) => takeSome(await request(same, signal), most, signal),
        cancel: async () => undefined,
      };
    },

    async slice(where, first, last, signal) {
      const response = await request(objectUrl(where, { alt: "media" }), signal, `bytes=${first}-${last}`);
      return takeBody(response, last - first + 1, signal);
    },

    ...(identity && {
      link: (where: ObjectWhere, seconds: number) => sign(where, seconds, { origin, identity, now }),
    }),
  };
}

/** A signed URL, with Google's V4 signing process. */
async function sign(
  { bucket, key, version }: ObjectWhere,
  seconds: number,
  { origin, identity, now }: { origin: URL; identity: GoogleIdentity; now: () => number },
): Promise<string> {
  const stamp = new Date(now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const scope = `${stamp.slice(0, 8)}/auto/storage/goog4_request`;
  const query = [
    ["X-Goog-Algorithm", "GOOG4-RSA-SHA256"],
    ["X-Goog-Credential", `${await identity.email()}/${scope}`],
    ["X-Goog-Date", stamp],
    ["X-Goog-Expires", String(seconds)],
    ["X-Goog-SignedHeaders", "host"],
    ...(version === undefined ? [] : [["generation", version]]),
  ]
    .map((pair) => pair.map(encodeStrictly).join("="))
    .sort()
    .join("&");
  const path = `/${[bucket, ...key.split("/")].map(encodeStrictly).join("/")}`;
  const canonical = ["GET", path, query, `host:${origin.host}`, "", "host", "UNSIGNED-PAYLOAD"].join("\n");
  const digest = createHash("sha256").update(canonical).digest("hex");
  const signature = await identity.sign(["GOOG4-RSA-SHA256", stamp, scope, digest].join("\n"));
  return `${origin.origin}${path}?${query}&X-Goog-Signature=${Buffer.from(signature, "base64").toString("hex")}`;
}

/** Anything but a list counts as an empty one. */
function listOf<T>(given: readonly T[] | undefined): readonly T[] {
  return Array.isArray(given) ? given.filter((each) => each !== null && each !== undefined) : [];
}

function toObject({ name = "", size, generation, updated }: Described): StoredObject {
  return { key: name, size: Number(size ?? 0), version: generation, lastModified: updated };
}

function headOf(given: Described): ObjectHead {
  const { size, contentType, contentEncoding, updated, metadata, generation, etag, md5Hash, crc32c, storageClass } =
    given;
  const facts = { generation, etag, md5: md5Hash, crc32c, storageClass, metadata, lastModified: updated };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return {
    size: Number(size ?? 0),
    mimeType: contentType,
    packing: packingOf(contentEncoding),
    mark: generation,
    meta: Object.fromEntries(known.map(([name, value]) => [`pressmark/${name}`, value])),
  };
}
