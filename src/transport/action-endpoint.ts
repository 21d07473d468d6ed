/** Actions over plain HTTP, for programs without MCP: JSON is posted, and JSON comes back. */
import type { OutgoingHttpHeaders } from "node:http";
import { type ErrorKind, QuotaError, type ResourceError, toResourceError } from "../errors.ts";
import type { CallerQuotas, MeteredRequest } from "../protocol/caller-quotas.ts";
import type { Action, ActionResult, Call, Resources } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { retryAfter } from "./send-json.ts";

export interface ActionResponse {
  readonly status: number;
  /** One JSON text. */
  readonly text: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface ActionEndpoint {
  /** Whether an action could have this path. */
  claims(path: string): boolean;
  /** Whether a request to this path may change something: always, unless this caller has a read-only action there. */
  writes(path: string, call: Call): Promise<boolean>;
  /** Undefined if there is none for this caller. Throws only if the call was cancelled. */
  take(path: string, body: unknown, call: Call): Promise<ActionResponse | undefined>;
}

const below = "/actions/";
const ownEndpoint = /^\/[a-z][a-z0-9_-]{0,63}$/;
const statuses: Readonly<Partial<Record<ErrorKind, number>>> = {
  "not-found": 404,
  denied: 404,
  directory: 404,
  invalid: 400,
  "too-large": 413,
  busy: 503,
  unavailable: 503,
  cancelled: 503,
  unsupported: 501,
};

/** `POST /actions/<mount>/<name>`, and `POST /<door>` if exactly one action of the caller has that `door`. */
export function createActionEndpoint(
  resources: Pick<Resources, "actions" | "act">,
  log?: Runtime["log"],
  quotas?: CallerQuotas,
): ActionEndpoint {
  async function find(path: string, call: Call): Promise<Pick<Action, "mount" | "name" | "readOnly"> | undefined> {
    const actions = (await resources.actions?.(call)) ?? [];
    if (path.startsWith(below)) {
      const [mount, name, ...more] = path.slice(below.length).split("/").map(decode);
      return more.length > 0 ? undefined : actions.find((each) => each.mount === mount && each.name === name);
    }
    const [only, ...others] = actions.filter(({ endpoint }) => endpoint !== undefined && `/${endpoint}` === path);
    return others.length > 0 ? undefined : only;
  }

  async function act(path: string, body: unknown, call: Call): Promise<ActionResult | undefined> {
    const action = await find(path, call);
    return action && resources.act?.(action, body, call);
  }

  return {
    claims: (path) => path.startsWith(below) || ownEndpoint.test(path),

    writes: async (path, call) => (await find(path, call))?.readOnly !== true,

    async take(path, body, call) {
      let metered: MeteredRequest | undefined;
      try {
        metered = quotas?.begin(call.caller);
        const acted = await (metered ? metered.run(() => act(path, body, call)) : act(path, body, call));
        const text = acted && JSON.stringify(acted.value);
        if (text !== undefined) quotas?.charge(call.caller, "bytes", Buffer.byteLength(text));
        return text === undefined ? undefined : { status: 200, text };
      } catch (cause) {
        if (call.signal.aborted) throw cause;
        const error = toResourceError(cause);
        if (error !== cause) log?.("error", "an action failed", { cause });
        return refusal(error);
      } finally {
        metered?.end();
      }
    },
  };
}

function refusal(error: ResourceError): ActionResponse {
  const { kind, message, details } = error;
  const retryAfterMs = details?.["retryAfterMs"];
  return {
    status: error instanceof QuotaError ? 429 : (statuses[kind] ?? 500),
    text: JSON.stringify({ error: { kind, message, details } }),
    ...(typeof retryAfterMs === "number" && { headers: retryAfter(retryAfterMs) }),
  };
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
