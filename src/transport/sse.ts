/** HTTP+SSE of 2024-11-05: one stream for all output, and a path to post to. */
import type { Protocol, Reply, WireBytes } from "../protocol/protocol.ts";
import { type Caller, callerKey } from "../resources.ts";
import { sendJson } from "./send-json.ts";
import { type Client, createShares } from "./clients.ts";
import type { EventStreams } from "./event-stream.ts";
import type { InFlight } from "./in-flight.ts";
import type { OutgoingResponse } from "./outgoing-response.ts";

interface SseSession {
  /** Responds with 202; results come on the stream. */
  post(body: unknown, response: OutgoingResponse): void;
  /** Whether too many requests are running or responses unread to accept more. */
  readonly full: boolean;
}

interface SseOptions {
  /** The path to post to, below the base path. */
  readonly post: string;
  readonly maxSessions?: number;
}

/** Maximum number of running requests per session: their responses all go to one reader. */
const maxUnderWay = 64;
const head = "event: message\ndata: ";

export function createSse(
  protocol: Protocol,
  streams: EventStreams,
  underWay: InFlight,
  { post: path, maxSessions = 10_000 }: SseOptions,
) {
  const held = new Map<string, SseSession & { readonly caller: Caller; end(): void }>();
  const shares = createShares(maxSessions);

  return {
    /** Opens a stream and its session. False if there are too many. */
    open(response: OutgoingResponse, caller: Caller, client: Client, basePath = ""): boolean {
      if (held.size >= maxSessions || shares.isUsedUp(client)) return false;
      shares.add(client);
      const id = crypto.randomUUID();
      const controller = new AbortController();
      let count = 0;

      const stream = streams.open(response, {
        greeting: `event: endpoint\ndata: ${basePath}${path}?sessionId=${id}\n\n`,
        closed: end,
      });
      const send = (wire: WireBytes) => stream.send(head, wire);
      const session = protocol.session(
        // A copy: limits count for each session.
        { caller, client: { ...client }, signal: controller.signal, send },
        { modern: false },
      );

      function end(): void {
        if (!held.delete(id)) return;
        shares.remove(client);
        for (; count > 0; count--) underWay.end();
        session.close();
        controller.abort();
        stream.end();
      }

      held.set(id, {
        caller,
        end,
        get full() {
          return stream.blocked || count >= maxUnderWay;
        },
        post(body, posted) {
          let over = false;
          const reply: Reply = {
            notify: (wire) => (over ? undefined : send(wire)),
            end(wire) {
              if (over || !held.has(id)) return;
              over = true;
              count--;
              underWay.end();
              if (wire !== undefined) void send(wire);
            },
          };
          count++;
          underWay.begin();
          sendJson(posted, 202);
          session.receive(body, reply);
        },
      });
      return true;
    },
    /** The session with this id, if it belongs to this caller. */
    find(id: string, caller: Caller): SseSession | undefined {
      const session = held.get(id);
      return session && callerKey(session.caller) === callerKey(caller) ? session : undefined;
    },
    get size(): number {
      return held.size;
    },
    /** Ends all sessions and their streams. */
    close(): void {
      for (const session of held.values()) session.end();
    },
  };
}
