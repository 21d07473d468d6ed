/** One page from the network: its name resolved once, every step of a redirect judged, never more than was allowed for. */
import type { LookupAddress } from "node:dns";
import type { IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { ResourceError, quote } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import type { Permit } from "./addresses.ts";

export interface FetchedPage {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** Where it was found in the end. */
  readonly url: URL;
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export interface VisitOptions {
  /** Whether a page may be asked for at all; asked again for every step of a redirect. */
  mayVisit(url: URL): boolean | Promise<boolean>;
  readonly permit: Permit;
  readonly resolve: Resolve;
  readonly maxBytes: number;
  /** Whether what is more than that is left out, and no fault. */
  readonly isCut?: boolean;
  readonly timeoutMs: number;
  readonly userAgent: string;
  readonly log: Runtime["log"];
}

/** What is said to each page on the way: it may differ from step to step. */
export type PageHeaders = (url: URL) => Readonly<Record<string, string>>;

export type Visit = (url: URL, headers: PageHeaders, signal: AbortSignal) => Promise<FetchedPage>;

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

export function createVisit(visiting: VisitOptions): Visit {
  const { mayVisit, permit, resolve, maxBytes, isCut = false, timeoutMs, userAgent, log } = visiting;

  /** The addresses that are asked. Any that is closed closes the name: what it says next time may be that one. */
  async function addressesOf({ hostname }: URL): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
    const literal = hostname.replace(/^\[|\]$/g, "");
    const family = isIP(literal);
    const found = family > 0 ? [{ address: literal, family }] : await resolve(hostname).catch(noAddress);
    const [first, ...others] = found;
    if (!first) return noAddress();
    const closed = found.find(({ address }) => !permit(address));
    if (closed) {
      // Where a name leads inside a network is for the person who runs the server, not for whoever asks.
      log("warn", "a page was not asked for: its host has an address that is not public; allowAddresses may allow it", {
        host: hostname,
        address: closed.address,
      });
      throw new ResourceError("denied", "the host of the page has an address that is not public");
    }
    return [first, ...others];
  }

  async function ask(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<FetchedPage> {
    const addresses = await addressesOf(url);
    const [{ address, family }] = addresses;
    const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
    return new Promise((answer, fail) => {
      const options: RequestOptions = {
        signal,
        // No connection is kept for another visit: it may be meant for another address by then.
        agent: false,
        headers: { "User-Agent": userAgent, "Accept-Encoding": "gzip, br", ...headers },
        lookup: (_name, asked, found) => (asked.all ? found(null, [...addresses]) : found(null, address, family)),
      };
      const asked = request(url, options, (response) => {
        take(response, maxBytes, isCut).then((bytes) => {
          answer({ status: response.statusCode ?? 0, headers: response.headers, bytes, url });
        }, fail);
      });
      asked.once("error", fail);
      asked.once("upgrade", (_response, socket) => {
        socket.destroy();
        fail(new Error("the site wants to speak something else"));
      });
      asked.end();
    });
  }

  return async (start, headers, signal) => {
    const late = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, late]);
    let url = start;
    try {
      for (let step = 0; step <= maxRedirects; step += 1) {
        if (!(await unless(either, mayVisit(url))))
          throw new ResourceError("denied", `${nameOf(url, start)} is not among the hosts that may be asked`);
        const visited = await unless(either, ask(url, headers(url), either));
        const target = visited.headers["location"];
        if (!redirects.has(visited.status) || typeof target !== "string") return visited;
        url = nextStep(target, url, start);
      }
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      if (signal.aborted) throw new ResourceError("cancelled", "the question was withdrawn", { cause });
      const why = late.aborted ? `did not answer within ${timeoutMs} ms` : `cannot be reached (${codeOf(cause)})`;
      throw new ResourceError("unavailable", `${nameOf(url, start)} ${why}`, { cause });
    }
    throw new ResourceError("unavailable", `${quote(start.host)} redirects again and again`, { passing: false });
  };
}

/** Some of what a visit waits for cannot be stopped; then it is no longer waited for. */
async function unless<T>(signal: AbortSignal, work: T | Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = () => reject(signal.reason as Error);
    if (signal.aborted) off();
    signal.addEventListener("abort", off, { once: true });
    void Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", off));
  });
}

function nextStep(target: string, from: URL, start: URL): URL {
  const url = URL.parse(target, from.href);
  // A secret in a URL is for whoever made the link, not for us to hand on.
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "" || url.password !== "")
    throw new ResourceError("denied", `${nameOf(from, start)} redirects to what is no page`);
  if (from.protocol === "https:" && url.protocol === "http:")
    throw new ResourceError("denied", `${nameOf(from, start)} redirects to a page that is not encrypted`);
  url.hash = "";
  return url;
}

/** The body, unpacked. Stops in the middle of what turns out to be too much. */
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
        throw new ResourceError("too-large", `the page has more than ${maxBytes} bytes, which are not read`, {
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
    throw new ResourceError("unexpected", `the page is packed as ${quote(packing, 40)}, which was not asked for`);
  // Its errors are those of the stream that comes out.
  return pipeline(response, make(), () => undefined);
}

function noAddress(cause?: unknown): never {
  throw new ResourceError("unavailable", "the host of the page has no address", { cause });
}

/** The host that was asked for. Where it redirects to, no one who asks need know. */
function nameOf({ host }: URL, { host: asked }: URL): string {
  return host === asked ? quote(asked) : `a page that ${quote(asked)} redirects to`;
}

function codeOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "the connection failed";
}
