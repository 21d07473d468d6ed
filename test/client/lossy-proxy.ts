/** A proxy for HTTP that does to messages what networks do: cuts streams, delays, says twice, and changes the order. */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LossyProxy extends AsyncDisposable {
  readonly url: string;
  /** Cuts every stream that is open, as a network that fails does. */
  cut(): void;
  /** Cuts, and takes no more until it is let through again. */
  block(): void;
  unblock(): void;
  /** How many streams are open. */
  readonly streams: number;
  /** What has been done to messages so far. */
  readonly faults: Readonly<Record<Fault, number>>;
}

export type Fault = "cut" | "delayed" | "doubled" | "swapped";

export interface LossyOptions {
  /** What is done, and when, follows from it. */
  readonly seed?: number;
  /** After so many faults everything goes through: a network that never works delivers nothing. */
  readonly maxFaults?: number;
}

export async function openLossyProxy(
  target: string,
  { seed = 1, maxFaults = 0 }: LossyOptions = {},
): Promise<LossyProxy> {
  const random = createRandom(seed);
  const faults: Record<Fault, number> = { cut: 0, delayed: 0, doubled: 0, swapped: 0 };
  const streams = new Set<ServerResponse>();
  let left = maxFaults;
  let isBlocked = false;

  function draw(): Fault | undefined {
    if (left <= 0 || random() < 0.5) return undefined;
    left -= 1;
    const kinds = ["cut", "delayed", "doubled", "swapped"] as const;
    const fault = kinds[Math.floor(random() * kinds.length)] ?? "cut";
    faults[fault] += 1;
    return fault;
  }

  async function pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    // Later than what was sent behind it.
    if (draw() === "delayed") await turns(20);
    if (isBlocked) return void to.destroy();
    const { pathname, search } = new URL(from.url ?? "/", target);
    const { hostname, port } = new URL(target);
    const onward = request({
      host: hostname,
      port,
      path: pathname + search,
      method: from.method,
      headers: { ...from.headers, host: `${hostname}:${port}` },
    });
    to.on("close", () => onward.destroy());
    onward.on("error", () => to.destroy());
    onward.on("response", (answer) => void relay(answer, to));
    from.pipe(onward);
  }

  async function relay(answer: IncomingMessage, to: ServerResponse): Promise<void> {
    answer.on("error", () => to.destroy());
    const isStream = answer.headers["content-type"]?.startsWith("text/event-stream");
    if (draw() === "cut") return void to.destroy();
    to.writeHead(answer.statusCode ?? 502, answer.headers);
    if (!isStream) return void answer.pipe(to);
    to.flushHeaders();
    streams.add(to);
    to.on("close", () => streams.delete(to));
    let isFirst = true;
    let held: string | undefined;
    for await (const event of eventsOf(answer)) {
      // The first says who is spoken with, or what will be heard: no protocol lets another stand before it.
      const fault = isFirst ? undefined : draw();
      isFirst = false;
      if (fault === "cut") return void to.destroy();
      if (fault === "delayed") await turns(20);
      if (fault === "swapped" && held === undefined) {
        held = event;
        // Something may follow, or nothing for a long time.
        void turns(20).then(() => flush());
        continue;
      }
      to.write(event);
      if (fault === "doubled") to.write(event);
      flush();
    }
    flush();
    to.end();

    function flush(): void {
      if (held !== undefined && !to.destroyed) to.write(held);
      held = undefined;
    }
  }

  const server = createServer((from, to) => void pass(from, to).catch(() => to.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const cut = (): void => {
    for (const each of streams) each.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}${new URL(target).pathname}`,
    faults,
    get streams() {
      return streams.size;
    },
    cut,
    block() {
      isBlocked = true;
      cut();
    },
    unblock() {
      isBlocked = false;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whole events, whatever pieces they come in. */
async function* eventsOf(answer: IncomingMessage): AsyncGenerator<string> {
  let text = "";
  answer.setEncoding("utf8");
  try {
    for await (const piece of answer) {
      text += piece as string;
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        yield text.slice(0, end + 2);
        text = text.slice(end + 2);
      }
    }
  } catch {
    // The server hung up; so does the proxy.
  }
}

/** A while that is as long as others take, not as a clock says. */
async function turns(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** The same numbers for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
