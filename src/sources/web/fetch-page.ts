/** Fetches one page: resolves its host once, checks every redirect, and limits size and time. */
import type { LookupAddress } from "node:dns";
import type { IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, denied, lastingFailure, quote, ResourceError, unavailable } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import type { Permit } from "./addresses.ts";

export interface FetchedPage {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** The final URL after redirects. */
  readonly url: URL;
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

interface VisitOptions {
  /** Whether a page may be requested; called again for every redirect. */
  mayVisit(url: URL): boolean | Promise<boolean>;
  readonly permit: Permit;
  readonly resolve: Resolve;
  readonly maxBytes: number;
  /** Whether a longer body is cut without an error. */
  readonly isCut?: boolean;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly log: Runtime["log"];
}

/** The request headers for each URL: they may differ between redirects. */
type PageHeaders = (url: URL) => Readonly<Record<string, string>>;

type Visit = (url: URL, headers: PageHeaders, signal: AbortSignal) => Promise<FetchedPage>;

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

export function createVisit(visiting: VisitOptions): Visit {
  const { mayVisit, permit, resolve, maxBytes, isCut = false, timeoutMs, userAgent, log } = visiting;

  /** The addresses of a host. One private address closes the host: the next lookup may return that one. */
  async function addressesOf({ hostname }: URL): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
    const literal = hostname.replace(/^\[|\]$/g, "");
    const family = isIP(literal);
    const found = family > 0 ? [{ address: literal, family }] : await resolve(hostname).catch(noAddress);
    const [first, ...others] = found;
    if (!first) return noAddress();
    const closed = found.find(({ address }) => !permit(address));
    if (closed) {
      // The private address is logged for the operator, and not revealed to the caller.
      log("warn", "page not requested: its host has a private address; allow it with allowAddresses", {
        host: hostname,
        address: closed.address,
      });
      throw denied("the host of the page has a private address");
    }
    return [first, ...others];
  }

  async function send(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<FetchedPage> {
    const addresses = await addressesOf(url);
    const [{ address, family }] = addresses;
    const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
    return new Promise((answer, fail) => {
      const options: RequestOptions = {
        signal,
        // No connection is reused: the host may have another address by then.
        agent: false,
        headers: { "User-Agent": userAgent, "Accept-Encoding": "gzip, br", ...headers },
        lookup: (_name, requested, found) =>
          requested.all ? found(null, [...addresses]) : found(null, address, family),
      };
      const requested = request(url, options, (response) => {
        take(response, maxBytes, isCut).then((bytes) => {
          answer({ status: response.statusCode ?? 0, headers: response.headers, bytes, url });
        }, fail);
      });
      requested.once("error", fail);
      requested.once("upgrade", (_response, socket) => {
        socket.destroy();
        fail(new Error("the site requested a protocol upgrade"));
      });
      requested.end();
    });
  }

  return async (start, headers, signal) => {
    const late = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, late]);
    let url = start;
    try {
      for (let step = 0; step <= maxRedirects; step += 1) {
        if (!(await unlessAborted(mayVisit(url), either))) throw denied(`${nameOf(url, start)} is not an allowed host`);
        const visited = await unlessAborted(send(url, headers(url), either), either);
        const target = visited.headers["location"];
        if (!redirects.has(visited.status) || typeof target !== "string") return visited;
        url = nextStep(target, url, start);
      }
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      if (signal.aborted) throw cancelled(cause);
      const why = late.aborted ? `did not respond within ${timeoutMs} ms` : `cannot be reached (${codeOf(cause)})`;
      throw unavailable(`${nameOf(url, start)} ${why}`, cause);
    }
    throw lastingFailure(`${quote(start.host)} redirects too often`);
  };
}

function nextStep(target: string, from: URL, start: URL): URL {
  const url = URL.parse(target, from.href);
  // Credentials in a URL must not be sent on.
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "" || url.password !== "")
    throw denied(`${nameOf(from, start)} redirects to a URL that is not a page`);
  if (from.protocol === "https:" && url.protocol === "http:")
    throw denied(`${nameOf(from, start)} redirects to a page without encryption`);
  url.hash = "";
  return url;
}

/** The decompressed body. Stops as soon as it is too long. */
async function take(response: IncomingMessage, maxBytes: number, isCut: boolean): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  const body = await unpack(response);
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxBytes && isCut) {
        pieces.push(piece.subarray(0, maxBytes - size));
        break;
      }
      if (size > maxBytes)
        throw new ResourceError("too-large", `the page has more than ${maxBytes} bytes`, {
          details: { reason: "too-large", maxBytes },
        });
      pieces.push(piece);
    }
  } finally {
    response.destroy();
  }
  return Buffer.concat(pieces);
}

async function unpack(response: IncomingMessage): Promise<Readable> {
  const packing = response.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (packing === "identity" || packing === "") return response;
  const { createBrotliDecompress, createGunzip, createInflate } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  const make = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    packing
  ];
  if (!make)
    throw new ResourceError("unexpected", `the page has the encoding ${quote(packing, 40)}, which was not requested`);
  // Its errors appear on the returned stream.
  return pipeline(response, make(), () => undefined);
}

function noAddress(cause?: unknown): never {
  throw unavailable("the host of the page has no address", cause);
}

/** The requested host. Redirect targets are not revealed to the caller. */
function nameOf({ host }: URL, { host: requested }: URL): string {
  return host === requested ? quote(requested) : `a page that ${quote(requested)} redirects to`;
}

function codeOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "the connection failed";
}
