/** Publishes messages in NATS: those of a topic one after another, each repeated under one id until it is stored or the time is over. */
import { randomUUID } from "node:crypto";
import { lastingFailure, ResourceError, shuttingDown, unavailable } from "../errors.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { Runtime } from "../runtime.ts";
import type { BusMessage } from "./bus.ts";
import { bodyText, fenceDenied, publishFailed, publishTimeoutMs, publishUnknown } from "./bus-limits.ts";
import type { RaiseFence } from "./raise-fence.ts";
import { isWrongSequence, type NatsConnection, type StreamNames, toNatsError } from "./nats-connection.ts";
import { parsePayload, payloadOf, subjectOf, type TopicFences } from "./nats-messages.ts";

export interface NatsPublisherOptions {
  readonly names: StreamNames;
  readonly fences: TopicFences;
  readonly raiseFence: RaiseFence;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait">;
  readonly signal: AbortSignal;
  /** Resolves with the current connection, or the next one. Rejects if the signal ends first. */
  connected(until: AbortSignal): Promise<NatsConnection>;
}

export interface NatsPublisher {
  publish(message: BusMessage): Promise<void>;
  /** The highest number that the stream has acknowledged. */
  readonly lastSeq: number;
  /** Must be called when the stream is another one, which counts from 1, or was not read without a gap. */
  restart(): void;
  readonly published: number;
}

interface Outgoing {
  readonly topic: string;
  readonly fence: number;
  readonly subject: string;
  readonly payload: string;
  readonly id: string;
}

const attemptMs = 3000;
const retryMs = 100;

export function createNatsPublisher(options: NatsPublisherOptions): NatsPublisher {
  const { names, fences, raiseFence, runtime, signal, connected } = options;
  /** The last publish of each topic. */
  const last = new Map<string, Promise<void>>();
  let lastSeq = 0;
  let published = 0;

  /** Returns whether it is stored. Throws if it never can be. */
  async function attempt({ client, manager, maxPayloadBytes }: NatsConnection, out: Outgoing): Promise<boolean> {
    const { topic, fence, subject, payload, id } = out;
    const bytes = Buffer.byteLength(payload);
    // Some space for headers.
    if (bytes + 512 > maxPayloadBytes)
      throw lastingFailure(
        `NATS accepts messages of at most ${maxPayloadBytes} bytes, and one of ${bytes} must be sent; set max_payload of nats-server to 1MB`,
      );
    const head = fences.of(topic);
    if (head && fence < head.fence) throw fenceDenied(topic);
    // The stream may have forgotten who published before, because messages expire. A leader that was paused for longer learns it here: its connection ended
    // meanwhile, so it cannot be paused between this and the message.
    const isRemembered = head !== undefined && head.seq > 0 && fence <= head.fence;
    if (fence > 0 && !isRemembered && !(await raiseFence(topic, fence))) throw fenceDenied(topic);
    // The server itself compares: nobody can have published with a higher fence between the check and the message.
    const isFenced = fence > 0 || (head !== undefined && head.fence > 0);
    try {
      const { seq } = await client.publish(subject, payload, {
        msgID: id,
        timeout: attemptMs,
        retries: 0,
        ...(isFenced && { expect: { lastSubjectSequence: head?.seq ?? 0 } }),
      });
      lastSeq = Math.max(lastSeq, seq);
      if (isFenced) fences.accept(topic, fence, seq);
      return true;
    } catch (cause) {
      if (!isWrongSequence(cause)) throw cause;
    }
    const stored = await manager.streams.getMessage(names.stream, { last_by_subj: subject });
    // An earlier attempt stored it.
    if (stored?.header.get("Nats-Msg-Id") === id) return true;
    fences.learn(topic, stored ? (parsePayload(stored.string())?.fence ?? 0) : 0, stored?.seq ?? 0);
    return false;
  }

  /** Calls `trying` when the message may reach NATS. */
  async function send(out: Outgoing, until: AbortSignal, trying: () => void): Promise<void> {
    for (;;) {
      try {
        const connection = await connected(until);
        trying();
        // A request does not end when its connection ends. A signal ends the wait, because a promise of the connection would keep memory for every message.
        const isStored = await unlessAborted(attempt(connection, out), connection.ended, () =>
          unavailable("the connection to NATS ended"),
        );
        if (isStored) {
          published += 1;
          return;
        }
      } catch (cause) {
        if (until.aborted) throw cause;
        if (cause instanceof ResourceError && !cause.passing) throw cause;
        await runtime.wait(retryMs, until);
      }
    }
  }

  return {
    async publish(message) {
      const { topic, fence } = message;
      const text = bodyText(message);
      if (signal.aborted) throw shuttingDown();
      const out = {
        topic,
        fence,
        subject: subjectOf(names, topic),
        payload: payloadOf(fence, text),
        id: randomUUID(),
      };
      const deadline = new AbortController();
      const until = AbortSignal.any([signal, deadline.signal]);
      const before = last.get(topic);
      let isTried = false;
      const sending = (async () => {
        await before?.catch(() => undefined);
        until.throwIfAborted();
        await send(out, until, () => (isTried = true));
      })();
      last.set(topic, sending);
      const forget = (): void => void (last.get(topic) === sending && last.delete(topic));
      sending.then(forget, forget);
      let isLate = false;
      const expire = (): void => {
        isLate = true;
        deadline.abort();
      };
      runtime.wait(publishTimeoutMs, until).then(expire, () => undefined);
      try {
        await unlessAborted(sending, until);
      } catch (cause) {
        if (signal.aborted) throw shuttingDown();
        if (!isLate) throw toNatsError(cause);
        throw isTried ? publishUnknown(topic, "NATS") : publishFailed(topic, "NATS");
      } finally {
        deadline.abort();
      }
    },
    get lastSeq() {
      return lastSeq;
    },
    restart() {
      lastSeq = 0;
      fences.forgetPlaces();
    },
    get published() {
      return published;
    },
  };
}
