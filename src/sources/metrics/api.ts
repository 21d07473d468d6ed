/** Client for the Prometheus HTTP API: with deadlines, and every failure as a readable error. */
import { parseJson } from "../../lib/parse-json.ts";
import { traceCarrier } from "../../lib/request-scope.ts";
import {
  cancelled,
  denied,
  invalid,
  lastingFailure,
  quote,
  ResourceError,
  unavailable,
  unsupported,
} from "../../errors.ts";
import { withoutPlaces } from "../../lib/without-locations.ts";
import { takeUpTo } from "../../lib/read-bounded.ts";

interface ApiOptions {
  /** Address of the server, up to `/api/v1`. */
  readonly url: string;
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number;
  /** Masks texts of the server before they are shown. Default: unchanged. */
  readonly clean?: (stated: string) => string;
}

type ApiParams = Readonly<Record<string, string | readonly string[]>>;

interface ApiResponse {
  readonly data: unknown;
  /** Warnings of the server. */
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

export interface Api {
  /** Throws "invalid" if the server rejects the request, and "unsupported" if it has no such endpoint. */
  request(endpoint: string, params: ApiParams, signal: AbortSignal): Promise<ApiResponse>;
  /** Whether the server has this endpoint. */
  has(endpoint: string, signal: AbortSignal): Promise<boolean>;
}

const maxBytes = 64 * 1024 * 1024;
const maxErrorBytes = 16 * 1024;
/** Longer requests are sent with POST: servers and proxies limit the length of a URL. */
const maxUrlLength = 2000;
const maxSaid = 300;
const maxNotes = 10;
/** Nothing can be served without these. */
const needed = new Set(["query", "query_range", "labels", "label/__name__/values"]);

export function createApi(options: ApiOptions): Api {
  const { timeoutMs, clean = (stated) => stated } = options;
  const base = baseOf(options.url);
  const headers = headersOf(options);

  async function send(endpoint: string, params: ApiParams, signal: AbortSignal): Promise<Response> {
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(params))
      for (const each of typeof value === "string" ? [value] : value) form.append(name, each);
    const search = form.toString();
    const place = `${base.href}api/v1/${endpoint}`;
    const isLong = place.length + search.length > maxUrlLength;
    const late = AbortSignal.timeout(timeoutMs);
    try {
      // Redirects are not followed: they could lead anywhere, with the credentials.
      return await fetch(isLong || search === "" ? place : `${place}?${search}`, {
        ...(isLong && { method: "POST", body: form }),
        headers: { ...headers, ...traceCarrier() },
        redirect: "manual",
        signal: AbortSignal.any([signal, late]),
      });
    } catch (cause) {
      throw broken(cause, signal, late.aborted);
    }
  }

  function broken(cause: unknown, signal: AbortSignal, isLate: boolean): ResourceError {
    if (signal.aborted) return cancelled(cause);
    const isTimeout = isLate || (cause instanceof Error && cause.name === "TimeoutError");
    const why = isTimeout ? `did not respond within ${timeoutMs} ms` : `cannot be reached (${codeOf(cause)})`;
    return unavailable(`the metrics server ${why}`, cause);
  }

  async function textOf(response: Response, most: number, signal: AbortSignal): Promise<string | undefined> {
    try {
      return (await takeUpTo(most, response.body))?.toString("utf8");
    } catch (cause) {
      throw broken(cause, signal, false);
    }
  }

  function refusal(endpoint: string, status: number, body: string): ResourceError {
    const stated = errorIn(body);
    const saying = stated === undefined ? "" : `: ${toLine(clean(withoutPlaces(stated.error)))}`;
    if (isMissing(status, body, stated)) {
      if (needed.has(endpoint))
        return lastingFailure(`the metrics server has no Prometheus API there (${status}); check the path of the url`);
      return unsupported(`the metrics server has no ${endpoint}: /api/v1/${endpoint} is missing`);
    }
    switch (status) {
      case 400:
      case 422:
        if (/too many samples|too many points|maximum resolution|limit/i.test(stated?.error ?? ""))
          return new ResourceError(
            "too-large",
            `this is too much for the metrics server${saying}; use a shorter range or fewer series`,
          );
        return invalid(`the metrics server rejects the query${saying}`);
      case 401:
      case 403:
        return denied(`the metrics server rejects the credentials (${status}); check token, or username and password`);
      case 429:
        return new ResourceError("busy", `the metrics server asks for a later retry`, { passing: true });
    }
    if (status >= 300 && status < 400)
      return lastingFailure(`the metrics server redirects (${status}); put the final address into the url`);
    return new ResourceError("unavailable", `the metrics server responded with status ${status}${saying}`, {
      passing: status >= 500,
    });
  }

  const notesIn = (stated: unknown) =>
    textsIn(stated)
      .slice(0, maxNotes)
      .map((each) => toLine(clean(withoutPlaces(each))));

  return {
    async request(endpoint, params, signal) {
      const response = await send(endpoint, params, signal);
      if (!response.ok) {
        const body = (await textOf(response, maxErrorBytes, signal)) ?? "";
        throw refusal(endpoint, response.status, body);
      }
      const body = await textOf(response, maxBytes, signal);
      if (body === undefined)
        throw new ResourceError(
          "too-large",
          `the metrics server sent more than ${maxBytes} bytes; use a shorter range or fewer series`,
        );
      const parsed = parse(body);
      if (parsed?.["status"] !== "success" || parsed["data"] === undefined)
        throw lastingFailure(`the response of the metrics server is not from the Prometheus API; check the url`);
      return { data: parsed["data"], warnings: notesIn(parsed["warnings"]), infos: notesIn(parsed["infos"]) };
    },

    async has(endpoint, signal) {
      const response = await send(endpoint, {}, signal);
      if (response.ok) {
        // Only the status matters, not the content.
        await response.body?.cancel().catch(() => undefined);
        return true;
      }
      const error = refusal(endpoint, response.status, (await textOf(response, maxErrorBytes, signal)) ?? "");
      if (error.kind === "unsupported") return false;
      throw error;
    },
  };
}

function baseOf(given: string): URL {
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw invalid("write the url of a metrics server as https://host/path, without user and password");
  url.search = "";
  url.hash = "";
  // Accepts the address as copied from a browser, or as other tools need it.
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "").replace(/\/api\/v1$/, "")}/`;
  return url;
}

function headersOf({ token, username, password, headers = {} }: ApiOptions): Record<string, string> {
  const made: Record<string, string> = { Accept: "application/json" };
  for (const [name, value] of Object.entries(headers)) {
    if (
      !/^[!#$%&'*+.^_`|~\w-]+$/.test(name) ||
      /^(?:host|authorization|content-.*|connection|transfer-.*)$/i.test(name)
    )
      throw invalid(
        `the header ${quote(name, 60)} cannot be sent; set credentials as token, or as username and password`,
      );
    made[name] = sendable(value, `the header ${quote(name, 60)}`);
  }
  if (token !== undefined && username !== undefined)
    throw invalid("set either token, or username and password, not both");
  if ((username === undefined) !== (password === undefined))
    throw invalid("username and password belong together; set both, or neither");
  if (token !== undefined) made["Authorization"] = `Bearer ${sendable(token, "the token")}`;
  else if (username !== undefined && password !== undefined) {
    if (username.includes(":")) throw invalid('a username cannot contain ":"');
    made["Authorization"] = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  }
  return made;
}

/** Removes the last line break of a file. A value that no header can carry would otherwise appear in an error. */
function sendable(value: string, what: string): string {
  const trimmed = value.trim();
  if (!/^[\x20-\x7e]+$/.test(trimmed)) throw invalid(`${what} is empty, or has characters that no header can carry`);
  return trimmed;
}

interface Said {
  readonly type: string;
  readonly error: string;
}

function errorIn(body: string): Said | undefined {
  const parsed = parse(body);
  const { errorType, error } = parsed ?? {};
  if (typeof error !== "string") return undefined;
  return { type: typeof errorType === "string" ? errorType : "", error };
}

function isMissing(status: number, body: string, stated: Said | undefined): boolean {
  if (status === 404) return stated === undefined || stated.type !== "bad_data";
  return status === 405 || status === 501 || (status === 400 && /unsupported path/i.test(body));
}

/** A text of the server, to be used in a sentence. */
function toLine(text: string): string {
  const line = text
    // oxlint-disable-next-line no-control-regex -- control characters are what this is about
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(/^invalid parameter "query": /, "")
    .toWellFormed();
  return line.length > maxSaid ? `${line.slice(0, maxSaid)}…` : line;
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parseJson(body);
  return isApiObject(parsed) ? parsed : undefined;
}

export function isApiObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}

function codeOf(cause: unknown): string {
  const { code } = ((cause as Error).cause ?? {}) as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "the connection failed";
}
