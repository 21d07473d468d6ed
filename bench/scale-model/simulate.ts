/**
 * A discrete-event simulation of instances behind a balancer with one database: every request waits in the queues of the processes that it
 * passes. Seeded: the same input gives the same result.
 */
import { quantile } from "../figures.ts";
import { randomFrom } from "../made-texts.ts";

export interface SimulatedKind {
  /** Share of the requests, from 0 to 1. All shares together are 1. */
  readonly share: number;
  readonly instanceUs: number;
  readonly databaseUs: number;
}

export interface Simulation {
  readonly kinds: Readonly<Record<string, SimulatedKind>>;
  readonly instances: number;
  /** Processors of one instance, at most 1: its main thread does the work. */
  readonly instanceCores: number;
  readonly databaseCores: number;
  readonly balancerUs: number;
  /** Of nginx. */
  readonly balancerWorkers: number;
  /** Either a number of clients that send the next request after each response, or requests that come at random. */
  readonly load: { readonly inFlight: number } | { readonly perSecond: number };
  readonly requests: number;
  readonly seed?: number;
}

export interface Simulated {
  readonly perSecond: number;
  /** CPU µs per request. */
  readonly instanceUs: number;
  readonly databaseUs: number;
  /** Share of their processors that is used, from 0 to 1. */
  readonly instanceUse: number;
  readonly databaseUse: number;
  /** By kind, in ms, of the requests of the second half. */
  readonly latencyMs: Readonly<Record<string, { readonly p50: number; readonly p99: number }>>;
  /** By kind: the latency below which this share of the requests lies. */
  latencyAt(kind: string, share: number): number;
}

/** Of the CPU time of a request, relative to its mean. */
const variation = 0.5;

export function simulate(input: Simulation): Simulated {
  const { kinds, instances, instanceCores, databaseCores, balancerUs, balancerWorkers, load, requests } = input;
  const random = randomFrom(input.seed ?? 1);
  const events = createEvents();
  const balancer = createStation(balancerWorkers, events);
  const pools = Array.from({ length: instances }, () => createStation(1, events));
  const database = createStation(databaseCores, events);
  const names = Object.keys(kinds);
  const latencies = new Map(names.map((name) => [name, [] as number[]]));
  const used = { instance: 0, database: 0 };
  let begun = 0;
  let ended = 0;
  let halfAt = 0;

  /** Half of the mean, and a random part with an exponential distribution. */
  const vary = (mean: number): number => mean * (1 - variation - variation * Math.log(1 - random()));

  function pickKind(): string {
    let at = random();
    return names.find((name) => (at -= kinds[name]!.share) < 0) ?? names.at(-1)!;
  }

  function begin(): void {
    if (begun >= requests) return;
    const from = events.now();
    const kind = pickKind();
    const { instanceUs, databaseUs } = kinds[kind]!;
    // In turn, as nginx does.
    const instance = pools[begun % instances]!;
    begun += 1;
    const [before, after, query] = [vary(instanceUs / 2), vary(instanceUs / 2), databaseUs > 0 ? vary(databaseUs) : 0];
    used.instance += before + after;
    used.database += query;
    const finish = (): void => instance(after / instanceCores, () => end(kind, from));
    balancer(vary(balancerUs), () => {
      instance(before / instanceCores, () => {
        if (query > 0) database(query, finish);
        else finish();
      });
    });
  }

  function end(kind: string, from: number): void {
    ended += 1;
    if (ended === Math.floor(requests / 2)) halfAt = events.now();
    if (ended > requests / 2) latencies.get(kind)!.push(events.now() - from);
    if ("inFlight" in load) begin();
  }

  if ("inFlight" in load) for (let count = 0; count < load.inFlight; count += 1) begin();
  else {
    const meanUs = 1e6 / load.perSecond;
    const arrive = (): void => {
      begin();
      if (begun < requests) events.after(-meanUs * Math.log(1 - random()), arrive);
    };
    arrive();
  }
  events.run();

  const elapsedUs = events.now();
  const latencyAt = (kind: string, share: number): number => quantile(latencies.get(kind) ?? [], share) / 1000;
  return {
    perSecond: ((ended - Math.floor(requests / 2)) / (elapsedUs - halfAt)) * 1e6,
    instanceUs: used.instance / requests,
    databaseUs: used.database / requests,
    instanceUse: used.instance / (elapsedUs * instances * instanceCores),
    databaseUse: used.database / (elapsedUs * databaseCores),
    latencyMs: Object.fromEntries(
      names.map((name) => [name, { p50: latencyAt(name, 0.5), p99: latencyAt(name, 0.99) }]),
    ),
    latencyAt,
  };
}

type Station = (us: number, done: () => void) => void;

/** Processors with one queue, first come first served. */
function createStation(cores: number, events: Events): Station {
  const queue: { us: number; done: () => void }[] = [];
  let first = 0;
  let free = cores;
  function start(us: number, done: () => void): void {
    free -= 1;
    events.after(us, () => {
      free += 1;
      const next = queue[first];
      if (next) {
        first += 1;
        if (first > 10_000 && first * 2 > queue.length) first -= queue.splice(0, first).length;
        start(next.us, next.done);
      }
      done();
    });
  }
  return (us, done) => {
    if (free > 0) start(us, done);
    else queue.push({ us, done });
  };
}

interface Events {
  now(): number;
  after(us: number, happen: () => void): void;
  run(): void;
}

/** A binary heap by time, then by the order of their adding. */
function createEvents(): Events {
  const heap: { at: number; order: number; happen: () => void }[] = [];
  let now = 0;
  let added = 0;
  const isBefore = (left: number, right: number): boolean => {
    const [a, b] = [heap[left]!, heap[right]!];
    return a.at < b.at || (a.at === b.at && a.order < b.order);
  };
  const swap = (left: number, right: number): void => {
    [heap[left], heap[right]] = [heap[right]!, heap[left]!];
  };
  return {
    now: () => now,
    after(us, happen) {
      heap.push({ at: now + us, order: added++, happen });
      for (let at = heap.length - 1; at > 0;) {
        const parent = (at - 1) >> 1;
        if (!isBefore(at, parent)) break;
        swap(at, parent);
        at = parent;
      }
    },
    run() {
      while (heap.length > 0) {
        const next = heap[0]!;
        const last = heap.pop()!;
        if (heap.length > 0) {
          heap[0] = last;
          for (let at = 0; ;) {
            let least = at;
            for (const child of [2 * at + 1, 2 * at + 2])
              if (child < heap.length && isBefore(child, least)) least = child;
            if (least === at) break;
            swap(at, least);
            at = least;
          }
        }
        now = next.at;
        next.happen();
      }
    },
  };
}
