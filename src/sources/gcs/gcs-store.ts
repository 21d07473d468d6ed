/** Google Cloud Storage over its JSON interface. */
import { createHash } from "node:crypto";
import { quote, ResourceError } from "../../errors.ts";
import type { ObjectHead, ObjectStore, ObjectWhere, StoredObject } from "../objects/object-store.ts";
import { encodeStrictly, refusalFor, send, take } from "../objects/request.ts";
import type { GoogleIdentity } from "./identity.ts";

export interface GcsOptions {
  readonly endpoint: string;
  /** Needed to name all buckets. */
  readonly project: string | undefined;
  /** Undefined where nothing is proved. */
  readonly identity: GoogleIdentity | undefined;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** An object as the interface describes it. Numbers are texts. */
interface Described {
  readonly name?: string;
  readonly size?: string;
  readonly generation?: string;
  readonly updated?: string;
  readonly contentType?: string;
  readonly etag?: string;
  readonly md5Hash?: string;
  readonly crc32c?: string;
  readonly storageClass?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

const objectFields = "name,size,generation,updated,contentType,etag,md5Hash,crc32c,storageClass,metadata";
const maxJsonBytes = 32 * 1024 * 1024;

export function createGcsStore({ endpoint, project, identity, timeoutMs, now }: GcsOptions): ObjectStore {
  const origin = new URL(endpoint);
  const apiOf = (...way: readonly string[]) =>
    new URL(`/storage/v1/b${way.map((step) => `/${encodeStrictly(step)}`).join("")}`, origin);

  async function ask(url: URL, signal: AbortSignal, range?: string): Promise<Response> {
    const headers = new Headers(identity ? await identity.headers(url.href) : {});
    if (range !== undefined) headers.set("Range", range);
    // Otherwise a packed object is unpacked on the way, and is of another size than it is said to be.
    headers.set("Accept-Encoding", "gzip");
    const response = await send(new Request(url, { headers }), { host: origin.host, timeoutMs }, signal);
    if (response.ok) return response;
    await response.body?.cancel();
    // A name that cannot be is none that is there.
    throw refusalFor(response.status === 400 ? 404 : response.status, origin.host);
  }

  async function json<T>(url: URL, signal: AbortSignal): Promise<T> {
    const response = await ask(url, signal);
    try {
      const text = (await take(response, maxJsonBytes)).toString("utf8");
      const value: unknown = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("no object");
      return value as T;
    } catch (cause) {
      throw new ResourceError("unavailable", `${quote(origin.host)} answered with what is no description`, { cause });
    }
  }

  function objectUrl({ bucket, key, version }: ObjectWhere, query: Readonly<Record<string, string>>): URL {
    const url = apiOf(bucket, "o", key);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    if (version !== undefined) url.searchParams.set("generation", version);
    return url;
  }

  async function describe(where: ObjectWhere, signal: AbortSignal): Promise<ObjectHead> {
    if (where.version !== undefined && !/^\d{1,20}$/.test(where.version))
      throw new ResourceError("not-found", "no such generation");
    return headOf(await json<Described>(objectUrl(where, { fields: objectFields }), signal));
  }

  return {
    async buckets(signal) {
      if (project === undefined)
        throw new ResourceError("invalid", "name the buckets, or the project whose buckets are meant");
      const names: string[] = [];
      let token: string | undefined;
      do {
        const url = apiOf();
        url.searchParams.set("project", project);
        url.searchParams.set("fields", "items(name),nextPageToken");
        if (token !== undefined) url.searchParams.set("pageToken", token);
        const page = await json<{ items?: { name: string }[]; nextPageToken?: string }>(url, signal);
        names.push(...(page.items ?? []).map(({ name }) => name));
        token = page.nextPageToken;
      } while (token !== undefined);
      return names;
    },

    async list({ bucket, prefix, folded, after, limit }, signal) {
      const url = apiOf(bucket, "o");
      const query = url.searchParams;
      query.set("fields", "items(name,size,generation,updated),prefixes,nextPageToken");
      // The offset is included: one more is asked for, and what was there before is left out.
      query.set("maxResults", String(after === undefined ? limit : limit + 1));
      if (prefix !== "") query.set("prefix", prefix);
      if (folded) query.set("delimiter", "/");
      if (after !== undefined) query.set("startOffset", after);
      const page = await json<{ items?: Described[]; prefixes?: string[]; nextPageToken?: string }>(url, signal);
      const isLater = (name: string) => name !== after;
      return {
        objects: (page.items ?? []).map(toObject).filter(({ key }) => isLater(key)),
        prefixes: (page.prefixes ?? []).filter(isLater),
        more: page.nextPageToken !== undefined,
      };
    },

    head: describe,

    async get(where, range, signal) {
      const head = await describe(where, signal);
      const asked = range && `bytes=${range[0]}-${range[1]}`;
      return {
        ...head,
        async bytes() {
          const response = await ask(objectUrl(where, { alt: "media" }), signal, asked);
          return take(response, range ? range[1] - range[0] + 1 : head.size);
        },
        cancel: async () => undefined,
      };
    },

    ...(identity && {
      link: (where: ObjectWhere, seconds: number) => sign(where, seconds, { origin, identity, now }),
    }),
  };
}

/** A link that proves itself, after Google's fourth way of signing. */
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

function toObject({ name = "", size, generation, updated }: Described): StoredObject {
  return { key: name, size: Number(size ?? 0), version: generation, lastModified: updated };
}

function headOf(said: Described): ObjectHead {
  const { size, contentType, updated, metadata, generation, etag, md5Hash, crc32c, storageClass } = said;
  const facts = { generation, etag, md5: md5Hash, crc32c, storageClass, metadata, lastModified: updated };
  const known = Object.entries(facts).filter(([, value]) => value !== undefined);
  return {
    size: Number(size ?? 0),
    mimeType: contentType,
    meta: Object.fromEntries(known.map(([name, value]) => [`pressmark/${name}`, value])),
  };
}
