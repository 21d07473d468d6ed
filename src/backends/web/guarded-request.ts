/** One HTTP request whose host is resolved once and may not have a private address; the size of the response is limited. */
import type { LookupAddress } from "node:dns";
import type { IncomingMessage, RequestOptions } from "node:http";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { denied, quote, ResourceError, unavailable } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { Permit } from "./addresses.ts";

export interface FetchedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  readonly url: URL;
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<readonly LookupAddress[]>;

export const resolveBySystem: Resolve = async (name) => {
  const { lookup } = await import("node:dns/promises");
  return lookup(name, { all: true, order: "verbatim" });
};

interface GuardedRequestOptions {
  readonly permit: Permit;
  readonly resolve: Resolve;
  readonly maxBytes: number;
  /** Whether a longer body is cut without an error. */
  readonly isCut?: boolean;
  /** What is requested, for messages: "page". */
  readonly what: string;
  /** Advice for the operator if the address is private. */
  readonly advice: string;
  readonly log: Runtime["log"];
}

export interface RequestContent {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Follows no redirect. */
export type GuardedRequest = (url: URL, content: RequestContent, signal: AbortSignal) => Promise<FetchedResponse>;

export function createGuardedRequest(guarding: GuardedRequestOptions): GuardedRequest {
  const { permit, resolve, what, advice, log } = guarding;

  /** The addresses of a host. One private address closes the host: the next lookup may return that one. */
  async function addressesOf({ hostname }: URL): Promise<readonly [LookupAddress, ...LookupAddress[]]> {
    const literal = hostname.replace(/^\[|\]$/g, "");
    const family = isIP(literal);
    const found =
      family > 0
        ? [{ address: literal, family }]
        : await resolve(hostname).catch((cause: unknown) => noAddress(what, cause));
    const [first, ...others] = found;
    if (!first) return noAddress(what);
    const closed = found.find(({ address }) => !permit(address));
    if (closed) {
      // The private address is logged for the operator, and not revealed to the caller.
      log("warn", `${what} not requested: its host has a private address; ${advice}`, {
        host: hostname,
        address: closed.address,
      });
      throw denied(`the host of the ${what} has a private address`);
    }
    return [first, ...others];
  }

  async function send(
    url: URL,
    { method, headers, body }: RequestContent,
    signal: AbortSignal,
  ): Promise<FetchedResponse> {
    const addresses = await addressesOf(url);
    const [{ address, family }] = addresses;
    const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
    return new Promise((answer, fail) => {
      const options: RequestOptions = {
        method,
        signal,
        // No connection is reused: the host may have another address by then.
        agent: false,
        headers: { "Accept-Encoding": "gzip, br", ...headers },
        lookup: (_name, requested, found) =>
          requested.all ? found(null, [...addresses]) : found(null, address, family),
      };
      const requested = request(url, options, (response) => {
        take(response, guarding).then((bytes) => {
          answer({ status: response.statusCode ?? 0, headers: response.headers, bytes, url });
        }, fail);
      });
      requested.once("error", fail);
      requested.once("upgrade", (_response, socket) => {
        socket.destroy();
        fail(new Error("the server requested a protocol upgrade"));
      });
      requested.end(body);
    });
  }

  return send;
}

/** The decompressed body. Stops as soon as it is too long. */
async function take(
  response: IncomingMessage,
  { maxBytes, isCut = false, what }: GuardedRequestOptions,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  const body = await unpack(response, what);
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > maxBytes && isCut) {
        pieces.push(piece.subarray(0, maxBytes - size));
        break;
      }
      if (size > maxBytes)
        throw new ResourceError("too-large", `the ${what} has more than ${maxBytes} bytes`, {
          details: { reason: "too-large", maxBytes },
        });
      pieces.push(piece);
    }
  } finally {
    response.destroy();
  }
  return Buffer.concat(pieces);
}

async function unpack(response: IncomingMessage, what: string): Promise<Readable> {
  const packing = response.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (packing === "identity" || packing === "") return response;
  const { createBrotliDecompress, createGunzip, createInflate } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  const make = { gzip: createGunzip, "x-gzip": createGunzip, deflate: createInflate, br: createBrotliDecompress }[
    packing
  ];
  if (!make)
    throw new ResourceError(
      "unexpected",
      `the ${what} has the encoding ${quote(packing, 40)}, which was not requested`,
    );
  // Its errors appear on the returned stream.
  return pipeline(response, make(), () => undefined);
}

function noAddress(what: string, cause?: unknown): never {
  throw unavailable(`the host of the ${what} has no address`, cause);
}
