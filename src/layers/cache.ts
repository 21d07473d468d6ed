/** What was read is kept for as long as its version is the same, and read once for all who ask at the same time. */
import { wrapSource } from "../layer.ts";
import type { OperationMethod, Layer, Operation } from "../layer.ts";
import type { Call } from "../resources.ts";
import type { Address, Part, Source } from "../source.ts";
import { attempt, ownCall, cancelledCall } from "./asked.ts";
import type { OwnCall } from "./asked.ts";

export interface CacheOptions {
  /** How much is kept. A body larger than a quarter of it is not. */
  readonly maxBytes?: number;
  /** How many addresses are remembered without their content. */
  readonly maxSeen?: number;
}

interface Kept {
  readonly version: string;
  readonly parts: readonly Part[];
  readonly bytes: number;
}

interface Seen {
  /** How many reads pass before it is asked for a version again: twice as many each time that it had none. */
  readonly pause: number;
  left: number;
}

interface Flight {
  readonly answer: Promise<readonly Part[]>;
  readonly call: OwnCall;
  /** How many still want the answer. Whoever is last to leave ends the flight. */
  aboard: number;
}

/**
 * While the version of an address is the same, its reads answer the same parts: the objects themselves. What is read for the first
 * time costs the source one read and no more; from the second on it is asked for the version first. Where a source has no `stat`,
 * or gives no version, nothing is kept. Reads of one address at one time are one read; a caller who leaves does not take it
 * from the others.
 */
export function cache({ maxBytes = 64 * 1024 * 1024, maxSeen = 8192 }: CacheOptions = {}): Layer {
  return (inner) => {
    /** The least recently used first. */
    const kept = new Map<string, Kept>();
    /** Addresses that were read before and are not kept, the longest unseen first. */
    const seen = new Map<string, Seen>();
    const flights = new Map<string, Flight>();
    let keptBytes = 0;

    function drop(key: string): void {
      const found = kept.get(key);
      if (found === undefined) return;
      kept.delete(key);
      keptBytes -= found.bytes;
    }

    function keep(key: string, version: string, parts: readonly Part[]): void {
      const bytes = sizeOf(parts) + 2 * key.length + 256;
      drop(key);
      if (bytes > maxBytes / 4) return;
      kept.set(key, { version, parts, bytes });
      seen.delete(key);
      keptBytes += bytes;
      for (const oldest of kept.keys()) {
        if (keptBytes <= maxBytes) return;
        drop(oldest);
      }
    }

    function remember(key: string, pause: number): void {
      seen.delete(key);
      seen.set(key, { pause, left: pause });
      if (seen.size <= maxSeen) return;
      for (const longest of seen.keys()) {
        seen.delete(longest);
        return;
      }
    }

    /** Joins the flight of this name, or begins it. */
    function share(
      name: string,
      call: Call,
      begin: (call: Call) => Promise<readonly Part[]>,
    ): Promise<readonly Part[]> {
      const under = flights.get(name);
      if (under) return board(name, under, call);
      const own = ownCall(call, (reason) => leave(name, flight, reason));
      const over = (): void => {
        own.release();
        if (flights.get(name) === flight) flights.delete(name);
      };
      const answer = begin(own);
      const flight: Flight = { answer, call: own, aboard: 1 };
      flights.set(name, flight);
      answer.then(over, over);
      return answer;
    }

    function board(name: string, flight: Flight, call: Call): Promise<readonly Part[]> {
      const { signal } = call;
      if (signal.aborted) return Promise.reject(cancelledCall(signal));
      flight.aboard += 1;
      return new Promise((resolve, reject) => {
        const off = (): void => {
          reject(cancelledCall(signal));
          leave(name, flight, signal.reason);
        };
        signal.addEventListener("abort", off, { once: true });
        const over = (): void => signal.removeEventListener("abort", off);
        flight.answer.then(
          (parts) => {
            over();
            resolve(parts);
          },
          (cause: unknown) => {
            over();
            reject(cause);
          },
        );
      });
    }

    function leave(name: string, flight: Flight, reason: unknown): void {
      flight.aboard -= 1;
      if (flight.aboard > 0) return;
      // Whoever comes now must not be taken along by what is about to end.
      if (flights.get(name) === flight) flights.delete(name);
      flight.call.abort(reason);
    }

    function readPlainly(at: Address, call: Call, key: string): Promise<readonly Part[]> {
      // Without a version there is no telling whether the source answers two callers alike.
      const { id } = call.caller;
      return share(`c${id.length}:${id}${key}`, call, (own) => readInner(at, own));
    }

    async function readVersion(at: Address, call: Call, key: string, stat: NonNullable<Source["stat"]>) {
      let version: string | undefined;
      try {
        ({ version } = await stat(at, call));
      } catch {
        if (call.signal.aborted) throw cancelledCall(call.signal);
        // The source may be able to read what it says nothing of, and if not, its read knows best why.
        drop(key);
        return readPlainly(at, call, key);
      }
      if (version === undefined) {
        drop(key);
        remember(key, Math.min(64, (seen.get(key)?.pause ?? 0) * 2 || 1));
        return readPlainly(at, call, key);
      }
      const found = kept.get(key);
      if (found?.version === version) {
        kept.delete(key);
        kept.set(key, found);
        return found.parts;
      }
      const label = version;
      return share(`v${label.length}:${label}${key}`, call, async (own) => {
        const parts = await readInner(at, own);
        // Kept only if nothing was written in between: the label must be that of what was read.
        const after = await stat(at, own).catch(() => undefined);
        if (after?.version === label) keep(key, label, parts);
        return parts;
      });
    }

    const stat = inner.stat?.bind(inner);
    const innerRead = inner.read.bind(inner);
    const readInner = (at: Address, own: Call) => attempt(innerRead, [at, own]) as Promise<readonly Part[]>;

    function read(at: Address, call: Call): Promise<readonly Part[]> {
      if (call.signal.aborted) return Promise.reject(cancelledCall(call.signal));
      const key = keyOf(at);
      if (stat === undefined) return readPlainly(at, call, key);
      const before = seen.get(key);
      if (kept.has(key) || before?.left === 0) return readVersion(at, call, key, stat);
      if (before) before.left -= 1;
      else remember(key, 0);
      return readPlainly(at, call, key);
    }

    return wrapSource(inner, <T extends OperationMethod>(operation: Operation, ask: T): T =>
      operation === "read" ? (read as OperationMethod as T) : ask,
    );
  };
}

/** Different addresses never have the same key. */
function keyOf({ path, query }: Address): string {
  if (query === undefined) return `p${path}`;
  const pairs = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.length === 0 ? `p${path}` : `q${JSON.stringify([path, pairs])}`;
}

function sizeOf(parts: readonly Part[]): number {
  let bytes = 0;
  for (const { body } of parts) bytes += "text" in body ? 2 * body.text.length : body.bytes.byteLength;
  return bytes;
}
