/** `subscriptions/listen`: one stream of changes, acknowledged first, each message tagged with the id of the request. */
import { ResourceError, toResourceError } from "../errors.ts";
import type { Call, Watch, WatchFilter } from "../resources.ts";
import type { RequestHandler, ClientRequest } from "./client-request.ts";
import { codes, ProtocolError, type JsonRpcResult } from "./message.ts";
import { changeNotices, mergeNotices, promptsChanged, toolsChanged } from "./notices.ts";
import { flagOf, recordOf, urisOf } from "./params.ts";
import type { PromptSet } from "./prompts.ts";
import { wireNotice } from "./shape.ts";
import type { ToolSet } from "./tools.ts";

const maxUris = 10_000;

interface Wanted {
  readonly list: boolean;
  readonly prompts: PromptSet | undefined;
  readonly tools: ToolSet | undefined;
  /** Absent if none were requested. */
  readonly uris?: readonly string[];
}

export const subscriptionsListen: RequestHandler = {
  async answer(question) {
    const { offer, params, call, isHeard } = question;
    if (!isHeard) throw new ProtocolError(codes.request, "accept text/event-stream to listen", { status: 406 });
    const wanted = recordOf(params, "notifications");
    // The acknowledgment leaves out what never changes.
    const tools = flagOf(wanted, "toolsListChanged") && offer.moreTools?.watch ? offer.moreTools : undefined;
    const prompts = flagOf(wanted, "promptsListChanged") && offer.prompts?.watch ? offer.prompts : undefined;
    const list = flagOf(wanted, "resourcesListChanged");
    const named = urisOf(wanted, "resourceSubscriptions", maxUris);
    const uris = [...new Set(named)];

    const client = call.client ?? call.caller;
    const amount = Math.max(1, uris.length);
    const release = offer.quotas?.listen(call.caller, amount);
    try {
      await offer.watchQuota.take(client, call.signal, amount);
    } catch (cause) {
      release?.();
      throw cause;
    }
    offer.observer?.watching?.(1, named.length);
    try {
      const asksUris = Object.hasOwn(wanted, "resourceSubscriptions");
      return await listen({ list, prompts, tools, uris: asksUris ? uris : undefined }, question);
    } finally {
      offer.observer?.watching?.(-1, -named.length);
      offer.watchQuota.release(client, amount);
      release?.();
    }
  },
};

async function listen(
  { list, prompts, tools, uris }: Wanted,
  { offer, revision, call, say, id, transport }: ClientRequest,
): Promise<JsonRpcResult> {
  const tag = { "io.modelcontextprotocol/subscriptionId": id };
  const filter: WatchFilter = { ...(list && { list }), ...(uris && uris.length > 0 && { uris }) };
  // Nothing may precede the acknowledgment, and progress is never sent.
  const quiet: Call = call.progress ? { caller: call.caller, signal: call.signal } : call;
  const watch = await offer.resources.watch(filter, quiet).catch((cause: unknown): Promise<Watch> => {
    // What cannot be watched is left out of the acknowledgment, as is what does not exist; it never ends the stream.
    if (toResourceError(cause).kind !== "unsupported") throw cause;
    return offer.resources.watch({}, quiet);
  });
  const others = await Promise.all([
    ...(prompts ? [changeNotices(prompts, promptsChanged, quiet)] : []),
    ...(tools ? [changeNotices(tools, toolsChanged, quiet)] : []),
  ]);
  const changes = others.length > 0 ? mergeNotices(watch, ...others) : watch[Symbol.asyncIterator]();
  offer.listens.set(changes, transport);
  try {
    if (offer.isClosing(transport)) await changes.return?.();
    await say("notifications/subscriptions/acknowledged", {
      _meta: tag,
      notifications: {
        ...(list && { resourcesListChanged: true }),
        ...(prompts && { promptsListChanged: true }),
        ...(tools && { toolsListChanged: true }),
        ...(uris && { resourceSubscriptions: watch.uris }),
      },
    });
    for (let next = await changes.next(); !next.done; next = await changes.next()) {
      const { method, params: sent } = wireNotice(next.value);
      await say(method, { _meta: tag, ...sent });
    }
  } finally {
    offer.listens.delete(changes);
  }
  if (call.signal.aborted) throw new ResourceError("cancelled", "the listen was ended by its caller");
  const sealed = revision.seal({}, undefined, offer.server);
  return { ...sealed, _meta: { ...(sealed["_meta"] as object), ...tag } };
}
