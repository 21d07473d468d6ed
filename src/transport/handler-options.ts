/** Options of every HTTP handler, whichever runtime it serves. */
import type { OutgoingHttpHeaders } from "node:http";
import type { CallerQuotas } from "../protocol/caller-quotas.ts";
import type { Caller } from "../resources.ts";
import type { Runtime } from "../source.ts";
import type { ActionEndpoint } from "./action-endpoint.ts";
import type { EventStreamOptions } from "./event-stream.ts";
import type { LegacySessionOptions } from "./legacy-sessions.ts";

/** Why a request is not served. */
export interface GateRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: OutgoingHttpHeaders;
}

export interface HandlerOptions extends EventStreamOptions, LegacySessionOptions {
  /** Path of the MCP endpoint, below the base path. The base path itself is this endpoint, too. */
  readonly endpoint?: string;
  /** Paths of the 2024-11-05 transport, below the base path: a stream, and a path to post to. False disables it. */
  readonly sse?: { readonly stream: string; readonly post: string } | false;
  /**
   * What precedes these paths in URLs of clients. A request may come with or without it. Default: what the framework has removed from
   * the URL (`originalUrl` of Express and Connect), else nothing.
   */
  readonly basePath?: string;
  /** Checks what was posted before it is handled: a message, or the input of the action at a path. Default: all is allowed. */
  readonly authorize?: (
    caller: Caller,
    body: unknown,
    actionPath?: string,
  ) => GateRefusal | undefined | Promise<GateRefusal | undefined>;
  /** Whether `identify` returns the same caller for everyone: then connections share limits. Default without `identify`: true. */
  readonly isOneCaller?: boolean;
  /** What each caller may use; the protocol counts requests. Default: no limits per caller. */
  readonly quotas?: CallerQuotas;
  /** The `WWW-Authenticate` of a 401. */
  readonly challenge?: string;
  /** Host names besides localhost, with or without a port. "*" allows any. */
  readonly allowedHosts?: readonly string[];
  /** Additional origins whose pages may send requests and read the responses (CORS). */
  readonly allowedOrigins?: readonly string[];
  /** Limit of one body. */
  readonly maxBodyBytes?: number;
  /** Limit of all bodies that are arriving. */
  readonly maxArrivingBytes?: number;
  readonly maxUrlLength?: number;
  /** Limit of open streams: listens, session streams, and those of 2024-11-05. */
  readonly maxStreams?: number;
  /** Handles JSON posted to other paths. */
  readonly posts?: ActionEndpoint;
  readonly log?: Runtime["log"];
}

/** Paths of the MCP endpoint and of the 2024-11-05 transport, unless configured. */
export const defaultEndpoint = "/mcp";
export const defaultSse = { stream: "/sse", post: "/messages" };

/** Limits of bodies, unless configured. */
export const defaultBodyLimits = { maxBytes: 4 * 1024 * 1024, maxTotalBytes: 256 * 1024 * 1024 };
