/** What one slow reader has still to hear: each thing once, however often it changed. */

export interface Reader<T> {
  /** Never blocks and never grows beyond the number of distinct things. Of two items with the same key the later stands, in the earlier's place. */
  readonly push: (item: T) => void;
  /** For one consumer. Ends at once when the signal does; what was waiting is dropped. */
  readonly iterable: AsyncIterable<T>;
}

/** Costs a few hundred bytes while idle: no generator, no timer, and no map until something has to wait. */
export function createReader<T>(signal: AbortSignal, keyOf: (item: T) => unknown): Reader<T> {
  return new KeyedReader(signal, keyOf);
}

/** A class, because there are tens of thousands of these and its methods are there once. */
class KeyedReader<T> implements Reader<T>, AsyncIterableIterator<T, undefined> {
  readonly #keyOf: (item: T) => unknown;
  #waiting: Map<unknown, T> | undefined;
  #wake: ((result: IteratorResult<T, undefined>) => void) | undefined;
  /** Both are dropped at the end. */
  #signal: AbortSignal | undefined;
  #end: (() => void) | undefined;

  constructor(signal: AbortSignal, keyOf: (item: T) => unknown) {
    this.#keyOf = keyOf;
    if (signal.aborted) return;
    this.#signal = signal;
    this.#end = () => void this.return();
    signal.addEventListener("abort", this.#end);
  }

  get iterable(): AsyncIterable<T> {
    return this;
  }

  /** Its own, so that it may be handed on by itself. */
  readonly push = (value: T): void => {
    if (this.#signal === undefined) return;
    const wake = this.#wake;
    if (wake) {
      this.#wake = undefined;
      wake({ done: false, value });
    } else {
      this.#waiting ??= new Map();
      this.#waiting.set(this.#keyOf(value), value);
    }
  };

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#wake) return Promise.reject(new TypeError("a reader has one consumer, and it is already waiting"));
    for (const [key, value] of this.#waiting ?? []) {
      this.#waiting?.delete(key);
      if (this.#waiting?.size === 0) this.#waiting = undefined;
      return Promise.resolve({ done: false, value });
    }
    if (this.#signal === undefined) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    if (this.#end) this.#signal?.removeEventListener("abort", this.#end);
    this.#signal = undefined;
    this.#end = undefined;
    this.#waiting = undefined;
    this.#wake?.({ done: true, value: undefined });
    this.#wake = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
