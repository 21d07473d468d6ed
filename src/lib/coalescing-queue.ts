/** A queue for one slow reader: each key once, however often it changed. */

export interface CoalescingQueue<T> extends AsyncIterableIterator<T, undefined> {
  /**
   * Never blocks and never grows beyond the number of distinct keys. A later item replaces an earlier one with the same key, at its
   * position.
   */
  push(item: T): void;
  /** For one consumer. */
  next(): Promise<IteratorResult<T, undefined>>;
  /** Ends immediately, also for a waiting consumer; queued items are dropped. */
  return(): Promise<IteratorResult<T, undefined>>;
}

/** Needs a few hundred bytes while idle: no generator, timer or signal, and no map until something has to wait. */
export function createCoalescingQueue<T>(keyOf: (item: T) => unknown): CoalescingQueue<T> {
  return new KeyedReader(keyOf);
}

/** A class, because there are tens of thousands of these, and they share its methods. */
class KeyedReader<T> implements CoalescingQueue<T> {
  readonly #keyOf: (item: T) => unknown;
  #waiting: Map<unknown, T> | undefined;
  #wake: ((result: IteratorResult<T, undefined>) => void) | undefined;
  #isWaking = false;
  #isOver = false;

  constructor(keyOf: (item: T) => unknown) {
    this.#keyOf = keyOf;
  }

  push(value: T): void {
    if (this.#isOver) return;
    this.#waiting ??= new Map();
    this.#waiting.set(this.#keyOf(value), value);
    if (!this.#wake || this.#isWaking) return;
    // Deferred, so that items pushed together arrive together.
    this.#isWaking = true;
    queueMicrotask(() => this.#giveNext());
  }

  #giveNext(): void {
    this.#isWaking = false;
    const wake = this.#wake;
    const next = wake && this.#takeFirst();
    if (!next) return;
    this.#wake = undefined;
    wake(next);
  }

  #takeFirst(): IteratorResult<T, undefined> | undefined {
    for (const [key, value] of this.#waiting ?? []) {
      this.#waiting?.delete(key);
      if (this.#waiting?.size === 0) this.#waiting = undefined;
      return { done: false, value };
    }
    return undefined;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#wake) return Promise.reject(new TypeError("a reader has one consumer, and it is already waiting"));
    const next = this.#takeFirst();
    if (next) return Promise.resolve(next);
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#isOver = true;
    this.#waiting = undefined;
    this.#wake?.({ done: true, value: undefined });
    this.#wake = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
