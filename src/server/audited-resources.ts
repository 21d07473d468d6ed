/** Records in the audit log what callers read, search, do and watch. */
import { toResourceError } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import type { Call, Content, Resources } from "../resources.ts";
import type { AuditEvent, AuditLog } from "./audit-log.ts";
import type { Server } from "./open-server.ts";

export function createAuditedResources(
  inner: Resources,
  { write }: Pick<AuditLog, "write">,
  explain: Server["explain"],
): Resources {
  function decisionOf(
    uri: string,
    { caller }: Call,
  ): Pick<AuditEvent, "caller" | "uri" | "rule"> & { isHidden: boolean } {
    const decision = explain(caller, uri);
    const rule = decision?.rule === undefined ? undefined : decision.rule + 1;
    return { caller: caller.id, uri, rule, isHidden: decision?.isAllowed === false };
  }

  function failed(event: Omit<AuditEvent, "outcome">, cause: unknown, isHidden: boolean): never {
    const { kind } = toResourceError(cause);
    if (kind !== "cancelled")
      write({
        ...event,
        outcome: isHidden || kind === "denied" ? "denied" : kind === "not-found" ? "missing" : "failed",
      });
    throw cause;
  }

  return withMembers<Resources>(inner, {
    async read(uri, call) {
      const { isHidden, ...event } = decisionOf(uri, call);
      const result = await inner
        .read(uri, call)
        .catch((cause: unknown) => failed({ what: "read", ...event }, cause, isHidden));
      write({ what: "read", ...event, outcome: "allowed", bytes: bytesOf(result.contents) });
      return result;
    },

    async search(request, call) {
      const event = { what: "search", caller: call.caller.id, uri: request.within, query: request.text } as const;
      const result = await inner.search(request, call).catch((cause: unknown) => failed(event, cause, false));
      write({ ...event, outcome: "allowed", count: result.hits.length });
      return result;
    },

    ...(inner.act &&
      ({
        async act(what, input, call) {
          const event = { what: "act", caller: call.caller.id, detail: `${what.mount}/${what.name}` } as const;
          const result = await inner.act!(what, input, call).catch((cause: unknown) => failed(event, cause, false));
          write({ ...event, outcome: "allowed" });
          return result;
        },
      } satisfies Pick<Resources, "act">)),

    async watch(filter, call) {
      const watch = await inner.watch(filter, call);
      // The server itself watches the sets of a caller, for the list of prompts.
      for (const uri of watch.uris.filter((each) => each !== "set://"))
        write({ what: "watch", caller: call.caller.id, uri, outcome: "allowed" });
      return watch;
    },
  });
}

function bytesOf(contents: readonly Content[]): number {
  return contents.reduce(
    (sum, { body }) => sum + ("text" in body ? Buffer.byteLength(body.text) : body.bytes.length),
    0,
  );
}
