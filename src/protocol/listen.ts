/** `subscriptions/listen`: one stream of changes, acknowledged first, each message tagged with the id that asked for it. */
import { ResourceError } from "../errors.ts";
import type { Call, WatchFilter } from "../resources.ts";
import type { Ask } from "./ask.ts";
import { codes, ProtocolError } from "./message.ts";
import { joined, promptNotices } from "./notices.ts";
import { flagOf, recordOf, urisOf } from "./params.ts";
import { wireNotice } from "./shape.ts";

const maxUris = 10_000;

export const subscriptionsListen: Ask = {
  async answer({ offer, revision, params, call, say, isHeard, id }) {
    if (!isHeard) throw new ProtocolError(codes.request, "accept text/event-stream to listen", { status: 406 });
    const wanted = recordOf(params, "notifications");
    // Checked, although no such change is offered: what the acknowledgment leaves out is not sent.
    flagOf(wanted, "toolsListChanged");
    const shelf = flagOf(wanted, "promptsListChanged") && offer.prompts?.watch ? offer.prompts : undefined;
    const list = flagOf(wanted, "resourcesListChanged");
    const asksUris = Object.hasOwn(wanted, "resourceSubscriptions");
    const uris = [...new Set(urisOf(wanted, "resourceSubscriptions", maxUris))];
    await offer.watchQuota.take(call.caller, call.signal, Math.max(1, uris.length));

    const tag = { "io.modelcontextprotocol/subscriptionId": id };
    const filter: WatchFilter = { ...(list && { list }), ...(uris.length > 0 && { uris }) };
    // Nothing may come before the acknowledgment, and no progress at all.
    const quiet: Call = call.progress ? { caller: call.caller, signal: call.signal } : call;
    const watch = await offer.resources.watch(filter, quiet);
    const changes = shelf ? joined(watch, await promptNotices(shelf, quiet)) : watch[Symbol.asyncIterator]();
    offer.listens.add(changes);
    try {
      if (offer.isClosing()) await changes.return?.();
      await say("notifications/subscriptions/acknowledged", {
        _meta: tag,
        notifications: {
          ...(list && { resourcesListChanged: true }),
          ...(shelf && { promptsListChanged: true }),
          ...(asksUris && { resourceSubscriptions: watch.uris }),
        },
      });
      for (let next = await changes.next(); !next.done; next = await changes.next()) {
        const { method, params: said } = wireNotice(next.value);
        await say(method, { _meta: tag, ...said });
      }
    } finally {
      offer.listens.delete(changes);
    }
    if (call.signal.aborted) throw new ResourceError("cancelled", "the listen was ended by its caller");
    const sealed = revision.seal({}, undefined, offer.server);
    return { ...sealed, _meta: { ...(sealed["_meta"] as object), ...tag } };
  },
};
