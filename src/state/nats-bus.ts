/**
 * A bus in NATS JetStream: one stream for all topics of a server. The stream numbers its messages without holes, so each instance knows by the
 * numbers alone whether it has received everything.
 */
import type { JsMsg, StreamInfo } from "@nats-io/jetstream";
import { cancelled, type ResourceError, shuttingDown } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { createWaiters } from "../lib/create-waiters.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { Runtime } from "../runtime.ts";
import type { Bus } from "./bus.ts";
import { checkTopic } from "./bus-limits.ts";
import { createBusTopics } from "./bus-topics.ts";
import {
  connectNats,
  type NatsConnection,
  type NatsPackages,
  type StreamNames,
  toNatsError,
} from "./nats-connection.ts";
import { createNatsPublisher } from "./nats-publisher.ts";
import { createTopicFences, parsePayload, topicOf } from "./nats-messages.ts";
import type { NatsTarget } from "./nats-url.ts";
import type { RaiseFence } from "./raise-fence.ts";

export interface NatsBusOptions {
  readonly packages: NatsPackages;
  readonly target: NatsTarget;
  readonly names: StreamNames;
  readonly instance: string;
  readonly raiseFence: RaiseFence;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
}

/** How often the position is compared with the stream: a consumer may have stopped without notice. */
const checkMs = 3000;

export function createNatsBus({ packages, target, names, instance, raiseFence, runtime }: NatsBusOptions): Bus {
  const closing = new AbortController();
  const { signal } = closing;
  const topics = createBusTopics(runtime);
  const fences = createTopicFences();
  /** Subscribers that wait until the position is known. NATS may be away for hours. */
  const arming = createWaiters<void>();
  /** Messages that wait for a connection. */
  const connecting = createWaiters<NatsConnection>();
  let connection: NatsConnection | undefined;
  /** Where the stream was read to, and which stream it is. */
  let position: { seq: number; readonly created: string; readonly server: string } | undefined;
  let lag = 0;
  /** Failures that were logged since it was connected. */
  const reported = new Set<string>();
  const publisher = createNatsPublisher({
    names,
    fences,
    raiseFence,
    runtime,
    signal,
    connected: async (until) => connection ?? connecting.wait(until),
  });

  /** Decides whether reading continues where it ended. If not, everything between is a gap. */
  function adopt({ created, state, config }: StreamInfo, server: string): number {
    const former = position;
    const isContinued =
      former !== undefined &&
      former.created === created &&
      state.last_seq >= Math.max(former.seq, publisher.lastSeq) &&
      state.first_seq <= former.seq + 1 &&
      // A message that only one server stored may be lost in a crash, and its number be used again.
      (former.server === server || config.num_replicas > 1);
    position = { seq: isContinued ? former.seq : state.last_seq, created, server };
    if (!isContinued) publisher.restart();
    if (former && !isContinued) topics.gapAll();
    arming.resume();
    return position.seq;
  }

  function accept(message: JsMsg): void {
    if (!position || message.seq <= position.seq) return;
    if (message.seq > position.seq + 1) topics.gapAll();
    position.seq = message.seq;
    lag = message.info.pending;
    const topic = topicOf(names, message.subject);
    if (topic === undefined) return;
    const parsed = parsePayload(message.string());
    if (!parsed) {
      runtime.log("warn", "the bus received a message that is not Pressmark's", { topic });
      topics.gap(topic);
    } else if (fences.accept(topic, parsed.fence, message.seq)) topics.deliver({ topic, ...parsed });
    // The sender may believe that it was delivered.
    else topics.gap(topic);
  }

  async function run(opened: NatsConnection, until: AbortSignal): Promise<void> {
    const messages = await opened.consume(adopt(await opened.stream(), opened.server));
    connection = opened;
    connecting.resume(opened);
    runtime.log("info", "the bus is connected to NATS", { stream: names.stream });
    reported.clear();
    const reading = (async () => {
      for await (const message of messages) accept(message);
    })();
    try {
      await Promise.race([reading, opened.over, keepChecking(opened, until)]);
    } finally {
      connection = undefined;
      messages.stop();
    }
  }

  /** Resolves when the stream is another one, or when nothing arrives although there is something. */
  async function keepChecking(opened: NatsConnection, until: AbortSignal): Promise<void> {
    for (;;) {
      const before = position?.seq;
      await runtime.wait(checkMs, until);
      const { created, state } = await opened.stream();
      if (created !== position?.created || state.last_seq < position.seq) return;
      if (state.last_seq > position.seq && before === position.seq) return;
    }
  }

  /** Once until it is back, and once for each failure that the operator must end: it may follow another one. */
  function report(cause: ResourceError): void {
    if (reported.size > 0 && (cause.passing || reported.has(cause.message))) return;
    reported.add(cause.message);
    runtime.log("warn", "the bus is not connected, connecting again", { cause });
  }

  async function keepConnected(): Promise<void> {
    const backoff = createBackoff({ firstMs: 100, longestMs: 2000, steadyMs: 1000, now: () => runtime.monotonicMs() });
    while (!signal.aborted) {
      const over = new AbortController();
      let opened: NatsConnection | undefined;
      let cause: unknown = new Error("the connection ended");
      try {
        opened = await connectNats(packages, target, names, instance);
        // The bus was closed meanwhile.
        if (signal.aborted) return;
        backoff.begun();
        const ending = AbortSignal.any([signal, over.signal]);
        await unlessAborted(run(opened, ending), ending);
      } catch (thrown) {
        cause = thrown;
      } finally {
        over.abort();
        opened?.end();
      }
      if (signal.aborted) return;
      report(toNatsError(cause));
      await runtime.wait(backoff.ended() * (0.75 + Math.random() / 4), signal).catch(() => undefined);
    }
  }

  const running = keepConnected();

  return {
    publish: (message) => publisher.publish(message),

    async subscribe(topic, subscriber, until) {
      checkTopic(topic);
      if (signal.aborted) throw shuttingDown();
      if (until.aborted) throw cancelled(until.reason);
      topics.add(topic, subscriber, until);
      if (position) return;
      await arming.wait(AbortSignal.any([until, signal])).catch(() => {
        throw signal.aborted ? shuttingDown() : cancelled(until.reason);
      });
    },

    get status() {
      const { gaps, received } = topics;
      const isConnected = connection !== undefined;
      return { engine: "nats" as const, isConnected, lag, gaps, published: publisher.published, received };
    },

    async close() {
      closing.abort();
      topics.clear();
      connection?.end();
      await running;
    },
  };
}
