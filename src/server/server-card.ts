/** Documents for anyone who looks for a server at its public URL: the server card, and the catalog that names it. */
import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { QuotaError } from "../errors.ts";
import type { CallerQuotas } from "../protocol/caller-quotas.ts";
import { machineOf } from "../transport/clients.ts";
import { addressOf } from "../transport/forwarded.ts";
import type { PublicDocument } from "../transport/node-handler.ts";
import { retryAfter, sendJson, unkept } from "../transport/send-json.ts";

interface ServerCardOptions {
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly title: string;
  readonly version: string;
  /** Revisions that the endpoint supports. */
  readonly revisions: readonly string[];
  /** Limits each machine as a caller that no rule names. */
  readonly quotas: Pick<CallerQuotas, "begin">;
}

const cardType = "application/mcp-server-card+json";
const cardSchema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const maxNameLength = 200;
const allowed = "GET, HEAD, OPTIONS";
/** Any page may read the documents: they are the same for everyone, and no cookie or token changes them. */
const shared = {
  ...unkept,
  "Cache-Control": "public, max-age=3600",
  "Cross-Origin-Resource-Policy": "cross-origin",
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Methods": "GET",
  "Access-Control-Allow-Headers": "Content-Type, If-None-Match",
  "Access-Control-Expose-Headers": "ETag",
};

interface ServerCard {
  readonly url: string;
  /** The card or the catalog, by path. */
  find(path: string): PublicDocument | undefined;
}

/**
 * The card says how to connect, and nothing about mounts or callers.
 * https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2127
 */
export function createServerCard({ publicUrl, title, version, revisions, quotas }: ServerCardOptions): ServerCard {
  const url = `${publicUrl}/mcp/server-card`;
  const { hostname, pathname } = new URL(publicUrl);
  const name = cardNameOf(new URL(publicUrl));
  const card = toDocument(
    cardType,
    {
      $schema: cardSchema,
      name,
      version,
      title,
      description: "Files, history, databases and other sources as MCP resources",
      remotes: [{ type: "streamable-http", url: `${publicUrl}/mcp`, supportedProtocolVersions: revisions }],
    },
    quotas,
  );
  const identifier = `urn:air:${hostname}:mcp:${name.slice(name.indexOf("/") + 1)}`;
  const catalog = toDocument(
    "application/ai-catalog+json",
    { specVersion: "1.0", entries: [{ identifier, type: cardType, url }] },
    quotas,
  );
  const documents = new Map<string, PublicDocument>();
  // A proxy may or may not strip the path of the public URL.
  for (const prefix of ["", pathname === "/" ? "" : pathname]) {
    documents.set(`${prefix}/mcp/server-card`, card);
    documents.set(`${prefix}/.well-known/ai-catalog.json`, catalog);
  }
  return { url, find: (path) => documents.get(path) };
}

/** A reverse domain name and a name: `com.example.docs/pressmark`. Port and path tell servers of one host apart. */
export function cardNameOf({ hostname, port, pathname }: URL): string {
  const host = hostname.replaceAll(/[[\]]/g, "");
  const domain = isIP(host) ? host.replaceAll(":", "-") : host.split(".").toReversed().join(".");
  const segments = [port, ...pathname.split("/")].filter((segment) => segment !== "");
  const own = ["pressmark", ...segments].join("-").replaceAll(/[^a-zA-Z0-9._-]/g, "-");
  return `${domain}/${own}`.slice(0, maxNameLength);
}

function toDocument(type: string, value: object, quotas: ServerCardOptions["quotas"]): PublicDocument {
  const body = Buffer.from(JSON.stringify(value));
  const tag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  return (request, response) => {
    const { method, headers } = request;
    try {
      // A name that no caller can have.
      quotas.begin({ id: `visitor ${machineOf(addressOf(request)) ?? "this machine"}` })?.end();
    } catch (cause) {
      if (!(cause instanceof QuotaError)) throw cause;
      sendJson(response, 429, [JSON.stringify({ error: cause.message })], retryAfter(cause.retryAfterMs));
      return;
    }
    if (method === "OPTIONS") response.writeHead(204, { ...shared, Allow: allowed }).end();
    else if (method !== "GET" && method !== "HEAD") response.writeHead(405, { ...unkept, Allow: allowed }).end();
    else if (namesTag(headers["if-none-match"], tag)) response.writeHead(304, { ...shared, ETag: tag }).end();
    else {
      response.writeHead(200, { ...shared, "Content-Type": type, "Content-Length": body.length, ETag: tag });
      response.end(method === "HEAD" ? undefined : body);
    }
  };
}

/** https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2: weak comparison, so a weakened tag counts. */
function namesTag(header: string | undefined, tag: string): boolean {
  return header !== undefined && header.split(",").some((each) => ["*", tag, `W/${tag}`].includes(each.trim()));
}
