/** A fair queue: clients take turns, so that one client with much work does not block the others. */
import { costAccount, runCharged } from "./cost-account.ts";
import { monotonicMs } from "./monotonic-ms.ts";

interface FairQueueOptions {
  /** Limit of concurrent work. One client gets at most three quarters of it. */
  readonly maxAtOnce: number;
  /** Limit of waiting work. */
  readonly maxWaiting: number;
  /** Work that has run this long is abandoned; its slot is reused when needed. */
  readonly abandonedMs?: number;
  readonly now?: () => number;
  /** The error for rejected work, with the time after which to try again. */
  readonly busy: (retryAfterMs: number) => Error;
  /** The error for cancelled work. */
  readonly cancelled: (reason: unknown) => Error;
}

interface FairQueue {
  /**
   * Starts the work when it is the client's turn; the work of one client runs in order. If the queue is full, the call is rejected, unless
   * another client has more in it: then that client's last item is. Waiting ends with the signal. Work occupies its slot until it settles.
   * The signal is not used if nothing has to wait.
   */
  run<T>(client: object, call: { readonly signal: AbortSignal }, work: () => Promise<T>): Promise<T>;
}

/** Running work. */
interface Place {
  readonly client: object;
  readonly startMs: number;
}

interface Waiter {
  begin(): void;
  sendAway(): void;
}

export function createFairQueue({
  maxAtOnce,
  maxWaiting,
  abandonedMs = Infinity,
  now = monotonicMs,
  busy,
  cancelled,
}: FairQueueOptions): FairQueue {
  const maxOfOne = Math.ceil(maxAtOnce * 0.75);
  const running = new Set<Place>();
  const runningOf = new Map<object, number>();
  /** The client whose turn it is comes first. */
  const waiting = new Map<object, Set<Waiter>>();
  let waitingCount = 0;
  /** Moving mean of the duration of work: used for the retry time. */
  let meanMs = 10;

  function mayRun(client: object): boolean {
    return running.size < maxAtOnce && (runningOf.get(client) ?? 0) < maxOfOne;
  }

  /** False if it has already left. */
  function leave(place: Place): boolean {
    if (!running.delete(place)) return false;
    const left = (runningOf.get(place.client) ?? 1) - 1;
    if (left > 0) runningOf.set(place.client, left);
    else runningOf.delete(place.client);
    return true;
  }

  function start<T>(client: object, work: () => Promise<T>): Promise<T> {
    const place = { client, startMs: now() };
    running.add(place);
    runningOf.set(client, (runningOf.get(client) ?? 0) + 1);
    const result = work();
    const over = (): void => {
      if (!leave(place)) return;
      meanMs += (now() - place.startMs - meanMs) / 16;
      goOn();
    };
    result.then(over, over);
    return result;
  }

  function goOn(): void {
    for (const [client, theirs] of waiting) {
      if (running.size >= maxAtOnce) return;
      const [first] = theirs;
      if (first === undefined || !mayRun(client)) continue;
      unqueue(client, first);
      // Its next item waits until the others had their turn: the loop reaches it again at the end.
      if (waiting.delete(client)) waiting.set(client, theirs);
      first.begin();
    }
  }

  function unqueue(client: object, waiter: Waiter): void {
    const theirs = waiting.get(client);
    if (!theirs?.delete(waiter)) return;
    waitingCount -= 1;
    if (theirs.size === 0) waiting.delete(client);
  }

  function dropAbandoned(): void {
    const beforeMs = now() - abandonedMs;
    for (const place of running) {
      if (place.startMs > beforeMs) break;
      leave(place);
    }
    goOn();
  }

  function retryAfterMs(): number {
    const turnsAhead = (waitingCount + running.size) / maxAtOnce;
    return Math.min(30_000, Math.max(100, Math.ceil(turnsAhead * meanMs)));
  }

  function wait<T>(client: object, { signal }: { readonly signal: AbortSignal }, work: () => Promise<T>): Promise<T> {
    if (signal.aborted) return Promise.reject(cancelled(signal.reason));
    const account = costAccount();
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        begin() {
          signal.removeEventListener("abort", leaveQueue);
          // The work of another client has just ended here.
          resolve(runCharged(account, () => start(client, work)));
        },
        sendAway() {
          signal.removeEventListener("abort", leaveQueue);
          reject(busy(retryAfterMs()));
        },
      };
      function leaveQueue(): void {
        unqueue(client, waiter);
        reject(cancelled(signal.reason));
      }
      const theirs = waiting.get(client);
      if (theirs) theirs.add(waiter);
      else waiting.set(client, new Set([waiter]));
      waitingCount += 1;
      signal.addEventListener("abort", leaveQueue, { once: true });
    });
  }

  /** False if no other client has more in the queue than this one would. */
  function makeRoom(client: object): boolean {
    let most = (waiting.get(client)?.size ?? 0) + 1;
    let greediest: object | undefined;
    for (const [other, theirs] of waiting) {
      if (theirs.size <= most) continue;
      most = theirs.size;
      greediest = other;
    }
    const last = greediest && [...(waiting.get(greediest) ?? [])].at(-1);
    if (greediest === undefined || last === undefined) return false;
    unqueue(greediest, last);
    last.sendAway();
    return true;
  }

  return {
    run(client, call, work) {
      if (running.size >= maxAtOnce) dropAbandoned();
      // It must not overtake waiting work of the same client.
      if (mayRun(client) && !waiting.has(client)) return start(client, work);
      if (waitingCount >= maxWaiting && !makeRoom(client)) return Promise.reject(busy(retryAfterMs()));
      return wait(client, call, work);
    },
  };
}
