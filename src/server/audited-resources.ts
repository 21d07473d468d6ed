/** Records in the audit log what callers read, search, do and watch, before they are answered. */
import { toResourceError } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import type { Call, Content, Relayed, Resources } from "../resources.ts";
import type { AuditEvent, AuditLog } from "./audit-log.ts";
import { remoteOf } from "../transport/clients.ts";
import type { Server } from "./open-server.ts";

export function createAuditedResources(
  inner: Resources,
  { write }: Pick<AuditLog, "write">,
  explain: Server["explain"],
): Resources {
  function decisionOf(
    uri: string,
    call: Call,
  ): Pick<AuditEvent, "caller" | "address" | "uri" | "rule"> & { isHidden: boolean } {
    const decision = explain(call.caller, uri);
    const rule = decision?.rule === undefined ? undefined : decision.rule + 1;
    return { ...whoIs(call), uri, rule, isHidden: decision?.isAllowed === false };
  }

  /** A cancelled read or search leaves no record. A cancelled call may have run, so it does. */
  async function failed(event: Omit<AuditEvent, "outcome">, cause: unknown, isHidden: boolean): Promise<never> {
    const { kind } = toResourceError(cause);
    if (kind !== "cancelled" || event.what === "act")
      await write({
        ...event,
        outcome: isHidden || kind === "denied" ? "denied" : kind === "not-found" ? "missing" : "failed",
      });
    throw cause;
  }

  /** A call that asks the caller for input is recorded each time. */
  async function relayed<T extends object>(detail: string, call: Call, running: Promise<T>): Promise<T> {
    const event = { what: "act", ...whoIs(call), detail } as const;
    const result = await running.catch((cause: unknown) => failed(event, cause, false));
    await write({ ...event, outcome: "isError" in result && result.isError ? "failed" : "allowed" });
    return result;
  }

  return withMembers<Resources>(inner, {
    async read(uri, call) {
      const { isHidden, ...event } = decisionOf(uri, call);
      const result = await inner
        .read(uri, call)
        .catch((cause: unknown) => failed({ what: "read", ...event }, cause, isHidden));
      const room = write({ what: "read", ...event, outcome: "allowed", bytes: bytesOf(result.contents) });
      if (room) await room;
      return result;
    },

    async search(request, call) {
      const event = { what: "search", ...whoIs(call), uri: request.within, query: request.text } as const;
      const result = await inner.search(request, call).catch((cause: unknown) => failed(event, cause, false));
      await write({ ...event, outcome: "allowed", count: result.hits.length });
      return result;
    },

    ...(inner.act &&
      ({
        async act(what, input, call) {
          const event = { what: "act", ...whoIs(call), detail: `${what.mount}/${what.name}` } as const;
          const result = await inner.act!(what, input, call).catch((cause: unknown) => failed(event, cause, false));
          await write({ ...event, outcome: "allowed" });
          return result;
        },
      } satisfies Pick<Resources, "act">)),

    ...(inner.relayed && {
      relayed: {
        ...inner.relayed,
        callTool: (what, args, input, call) =>
          relayed(`${what.mount}/${what.name}`, call, inner.relayed!.callTool(what, args, input, call)),
        getPrompt: (what, args, input, call) =>
          relayed(`${what.mount}/${what.name} (prompt)`, call, inner.relayed!.getPrompt(what, args, input, call)),
      } satisfies Relayed,
    }),

    async watch(filter, call) {
      const watch = await inner.watch(filter, call);
      // The server itself watches the sets of a caller, for the list of prompts.
      const uris = watch.uris.filter((each) => each !== "set://");
      if (uris.length > 0) await write({ what: "watch", ...whoIs(call), uris, outcome: "allowed" });
      return watch;
    },
  });
}

function whoIs({ caller, client }: Call): Pick<AuditEvent, "caller" | "address"> {
  return { caller: caller.id, address: remoteOf(client) };
}

function bytesOf(contents: readonly Content[]): number {
  return contents.reduce(
    (sum, { body }) => sum + ("text" in body ? Buffer.byteLength(body.text) : body.bytes.length),
    0,
  );
}
