/** Fetches one page: checks every redirect, and limits size and time. */
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, denied, lastingFailure, quote, ResourceError, unavailable } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import type { Permit } from "../../backends/web/addresses.ts";
import type { Pace, Turn } from "./pace.ts";
import { createGuardedRequest, type FetchedResponse, type Resolve } from "../../backends/web/guarded-request.ts";

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
  /** Headers that only this host gets; called again for every redirect. */
  headersFor(url: URL): Readonly<Record<string, string>>;
  readonly log: Runtime["log"];
  /** Absent for requests that are always sent immediately. */
  readonly pace?: Pace;
}

/** The request headers for each URL: they may differ between redirects. */
type PageHeaders = (url: URL) => Readonly<Record<string, string>>;

export type Visit = (url: URL, headers: PageHeaders, turn: Turn) => Promise<FetchedResponse>;

const maxRedirects = 5;
const redirects = new Set([301, 302, 303, 307, 308]);

export function createVisit(visiting: VisitOptions): Visit {
  const { mayVisit, timeoutMs, userAgent, headersFor, pace = (_url, _turn, request) => request() } = visiting;
  const send = createGuardedRequest({ ...visiting, what: "page", advice: "allow it with allowAddresses" });

  async function visitNow(start: URL, headers: PageHeaders, signal: AbortSignal): Promise<FetchedResponse> {
    const late = AbortSignal.timeout(timeoutMs);
    const either = AbortSignal.any([signal, late]);
    let url = start;
    try {
      for (let step = 0; step <= maxRedirects; step += 1) {
        if (!(await unlessAborted(mayVisit(url), either))) throw denied(`${nameOf(url, start)} is not an allowed host`);
        const visited = await unlessAborted(
          send(url, { headers: { "User-Agent": userAgent, ...headers(url), ...headersFor(url) } }, either),
          either,
        );
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
  }

  return async (start, headers, turn) => {
    try {
      // Waiting for a turn does not count as time of the page.
      return await pace(start, turn, () => visitNow(start, headers, turn.signal));
    } catch (cause) {
      throw cause instanceof ResourceError ? cause : cancelled(cause);
    }
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

/** The requested host. Redirect targets are not revealed to the caller. */
function nameOf({ host }: URL, { host: requested }: URL): string {
  return host === requested ? quote(requested) : `a page that ${quote(requested)} redirects to`;
}

function codeOf(cause: unknown): string {
  const { code } = cause as NodeJS.ErrnoException;
  return typeof code === "string" ? code : "the connection failed";
}
