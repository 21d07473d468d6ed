/** S3 over HTTP, for AWS and stores with the same API. */
import { denied, quote, ResourceError, unavailable } from "../../errors.ts";
import { scanXml, type XmlHandler } from "../../backends/documents/xml.ts";
import { skipEmpty, type StorePage } from "../../backends/objects/list-page.ts";
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
import type { CredentialSource } from "./credentials.ts";

interface S3Options {
  readonly region: string;
  /** Address of a server other than Amazon's. */
  readonly endpoint: string | undefined;
  /** Whether the bucket is part of the path, not of the host name. */
  readonly pathStyle: boolean;
  /** Undefined for unsigned requests. */
  readonly credentials: CredentialSource | undefined;
  readonly timeoutMs: number;
}

/** No list or error response is this large. */
const maxXmlBytes = 32 * 1024 * 1024;

export function createS3Store({ region, endpoint, pathStyle, credentials, timeoutMs }: S3Options): ObjectStore {
  /** Signing keys derived from the secret, which takes a while. */
  const derived = new Map<string, ArrayBuffer>();
  const origin = originOf(endpoint ?? `https://s3.${region}.amazonaws.com`);

  function urlOf(bucket: string | undefined, key = "", query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(origin);
    const inPath = pathStyle || bucket?.includes(".");
    if (bucket !== undefined && !inPath) url.host = `${bucket}.${url.host}`;
    const way = [...(bucket !== undefined && inPath ? [bucket] : []), ...(key === "" ? [] : key.split("/"))];
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${way.map(encodeStrictly).join("/")}`;
    url.search = Object.entries(query)
      .map((pair) => pair.map(encodeStrictly).join("="))
      .join("&");
    return url;
  }

  async function sign(
    url: URL,
    requested: { method?: "HEAD"; headers?: Record<string, string>; inQuery?: true },
  ): Promise<Request> {
    const { inQuery, ...init } = requested;
    if (!credentials) return new Request(url, init);
    const { AwsClient } = await import("aws4fetch");
    const { accessKeyId, secretAccessKey, sessionToken } = await credentials.get();
    const client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      sessionToken,
      service: "s3",
      region,
      cache: derived,
    });
    return client.sign(url.href, { ...init, ...(inQuery && { aws: { signQuery: true } }) });
  }

  /** A response with an error status is thrown as an error. */
  async function ask(
    url: URL,
    signal: AbortSignal,
    requested: { method?: "HEAD"; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const request = await sign(url, requested);
    // Not signed, because proxies may rewrite it. Content must not be compressed in transit.
    request.headers.set("Accept-Encoding", "identity");
    const response = await send(request, { timeoutMs }, signal);
    if (response.ok) return response;
    const xml = requested.method === "HEAD" ? "" : await textOf(response, signal);
    const fields = errorFields(xml);
    // The user may have signed in again. For HEAD requests the store gives no error code, only status 400.
    if (staleCodes.has(fields.get("Code") ?? "") || (requested.method === "HEAD" && response.status === 400))
      credentials?.forget();
    throw refusal(response, fields, region);
  }

  return {
    async buckets(signal) {
      const names: string[] = [];
      const xml = await textOf(await ask(urlOf(undefined), signal), signal);
      readXml(xml, (path, text) => {
        if (path.endsWith("Bucket/Name")) names.push(text);
      });
      return names;
    },

    list: ({ bucket, prefix, folded, after, limit }, signal) =>
      skipEmpty(async (token) => {
        const url = urlOf(bucket, "", {
          "list-type": "2",
          "encoding-type": "url",
          "max-keys": String(limit),
          ...(prefix !== "" && { prefix }),
          ...(folded && { delimiter: "/" }),
          ...(after !== undefined && { "start-after": after }),
          ...(token !== undefined && { "continuation-token": token }),
        });
        return parseList(await textOf(await ask(url, signal), signal));
      }),

    async head(where, signal) {
      const url = urlOf(where.bucket, where.key, versioned(where));
      return headOf((await ask(url, signal, { method: "HEAD" })).headers);
    },

    async get(where, signal) {
      const response = await ask(urlOf(where.bucket, where.key, versioned(where)), signal);
      return {
        ...headOf(response.headers),
        bytes: (most) => takeSome(response, most, signal),
        cancel: async () => void (await response.body?.cancel()),
      };
    },

    async slice(where, first, last, signal) {
      const headers = {
        Range: `bytes=${first}-${last}`,
        ...(where.mark !== undefined && { "If-Match": `"${where.mark}"` }),
      };
      const response = await ask(urlOf(where.bucket, where.key, versioned(where)), signal, { headers });
      return takeBody(response, last - first + 1, signal);
    },

    ...(credentials && {
      async link(where: ObjectWhere, seconds: number) {
        const url = urlOf(where.bucket, where.key, { ...versioned(where), "X-Amz-Expires": String(seconds) });
        return (await sign(url, { inQuery: true })).url;
      },
    }),
  };
}

function versioned({ version }: ObjectWhere): Record<string, string> {
  return version === undefined ? {} : { versionId: version };
}

async function textOf(response: Response, signal: AbortSignal): Promise<string> {
  return (await takeBody(response, maxXmlBytes, signal)).toString("utf8");
}

/** Reports each text with the names of the elements around it. */
function readXml(xml: string, tell: (path: string, text: string) => void): void {
  const names: string[] = [];
  let text = "";
  scan(xml, {
    open(name) {
      names.push(name);
      text = "";
    },
    close() {
      tell(names.join("/"), text);
      names.pop();
      text = "";
    },
    text(more) {
      text += more;
    },
  });
}

function scan(xml: string, handler: XmlHandler): void {
  try {
    scanXml(xml, handler);
  } catch (cause) {
    throw unavailable("the store returned an invalid list", cause);
  }
}

/** A page of thousands, parsed by element names, which are never nested in one of the same name. */
function parseList(xml: string): StorePage {
  const objects: { -readonly [Key in keyof StoredObject]: StoredObject[Key] }[] = [];
  const prefixes: string[] = [];
  let [more, isEncoded, isList, isFolded] = [false, false, false, false];
  let [key, size, etag, modified] = ["", "0", "", ""];
  let token: string | undefined;
  let text = "";
  scan(xml, {
    open(name) {
      text = "";
      if (name === "CommonPrefixes") isFolded = true;
    },
    text(piece) {
      text = text === "" ? piece : text + piece;
    },
    close(name) {
      switch (name) {
        case "Key":
          key = text;
          break;
        case "Size":
          size = text;
          break;
        case "ETag":
          etag = text;
          break;
        case "LastModified":
          modified = text;
          break;
        case "Contents":
          objects.push({ key, size: sizeOf(size), version: unquote(etag), lastModified: isoOf(modified) });
          [key, size, etag, modified] = ["", "0", "", ""];
          break;
        case "Prefix":
          if (isFolded) prefixes.push(text);
          break;
        case "CommonPrefixes":
          isFolded = false;
          break;
        case "EncodingType":
          isEncoded = text === "url";
          break;
        case "IsTruncated":
          more = text === "true";
          break;
        case "NextContinuationToken":
          token = text;
          break;
        case "ListBucketResult":
          isList = true;
      }
      text = "";
    },
  });
  if (!isList) throw unavailable("the store returned an invalid list");
  // The encoding of names may be given after them.
  if (!more) token = undefined;
  if (!isEncoded) return { objects, prefixes, more, token };
  return {
    objects: objects.map((object) => ({ ...object, key: decodeName(object.key) })),
    prefixes: prefixes.map(decodeName),
    more,
    token,
  };
}

function unquote(etag: string): string | undefined {
  return etag === "" ? undefined : etag.replace(/^W\//, "").replaceAll('"', "");
}

function sizeOf(given: string | null): number {
  const size = Number(given ?? 0);
  return Number.isSafeInteger(size) && size >= 0 ? size : 0;
}

function decodeName(name: string): string {
  if (!name.includes("%") && !name.includes("+")) return name;
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}

/** To the second, as in the other responses. */
function isoOf(time: string | undefined | null): string | undefined {
  const when = time ? new Date(time) : undefined;
  if (!when || Number.isNaN(when.getTime())) return undefined;
  when.setUTCMilliseconds(0);
  return when.toISOString();
}

function headOf(headers: Headers): ObjectHead {
  const meta: Record<string, unknown> = {};
  const say = (name: string, header: string) => {
    const value = headers.get(header);
    if (value !== null) meta[name] = value;
  };
  say("pressmark/etag", "etag");
  say("pressmark/versionId", "x-amz-version-id");
  say("pressmark/storageClass", "x-amz-storage-class");
  const own: Record<string, string> = {};
  for (const [name, value] of headers)
    if (name.startsWith("x-amz-meta-")) own[name.slice("x-amz-meta-".length)] = value;
  if (Object.keys(own).length > 0) meta["pressmark/metadata"] = own;
  const lastModified = isoOf(headers.get("last-modified"));
  if (lastModified !== undefined) meta["pressmark/lastModified"] = lastModified;
  return {
    size: sizeOf(headers.get("content-length")),
    mimeType: headers.get("content-type") ?? undefined,
    packing: packingOf(headers.get("content-encoding")),
    mark: unquote(headers.get("etag") ?? ""),
    meta,
  };
}

const staleCodes = new Set(["ExpiredToken", "TokenRefreshRequired", "InvalidToken", "InvalidAccessKeyId"]);

/** The fields of an error response, by element name; empty if it is none. */
function errorFields(xml: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (!xml.includes("<Error")) return fields;
  try {
    readXml(xml, (path, text) => void (path.startsWith("Error/") && fields.set(path.slice("Error/".length), text)));
  } catch {
    // The status is enough.
  }
  return fields;
}

function refusal(response: Response, fields: ReadonlyMap<string, string>, region: string): ResourceError {
  const { status, headers } = response;
  const code = fields.get("Code") ?? "";
  const where = headers.get("x-amz-bucket-region") ?? fields.get("Region");
  if (where && where !== region && (status === 301 || status === 307 || status === 400))
    return denied(`the bucket is in another region; set region: ${quote(where, 40)}`);
  switch (code) {
    case "NoSuchBucket":
      return new ResourceError("not-found", "no such bucket; check buckets and region");
    case "ExpiredToken":
    case "TokenRefreshRequired":
      return denied("the credentials have expired; sign in again");
    case "InvalidAccessKeyId":
    case "SignatureDoesNotMatch":
    case "InvalidToken":
    case "AuthorizationHeaderMalformed":
      return denied("the store rejects the credentials; check key, secret and region");
    case "RequestTimeTooSkewed":
      return denied("the clock of this machine is wrong, so the store rejects its signature");
    case "InvalidObjectState":
      return denied("the object is archived; restore it first");
    case "SlowDown":
      return new ResourceError("busy", "the store asks for fewer requests", { passing: true });
  }
  // An invalid version id means that the version does not exist.
  if (code === "NoSuchVersion" || (status === 400 && /[?&]versionId=/.test(response.url)))
    return new ResourceError("not-found", "no such version");
  return refusalFor(status, code.replaceAll(/\W/g, "").slice(0, 60));
}
