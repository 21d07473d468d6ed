/** A queue for one slow reader: each key once, however often it changed, and never more than a limit. */

export interface CoalescingQueue<T> extends AsyncIterableIterator<T, undefined> {
  /** Never blocks. A later item replaces an earlier one with the same key, at its position. */
  push(item: T): void;
  pushAll(items: readonly T[]): void;
  /** Number of waiting items: at most the number of distinct keys. */
  readonly size: number;
  /** For one consumer. */
  next(): Promise<IteratorResult<T, undefined>>;
  /** Ends immediately, also for a waiting consumer, which gets the failure; queued items are dropped. */
  end(failure?: Error): void;
  /** The consumer leaves. */
  return(): Promise<IteratorResult<T, undefined>>;
}

interface QueueLimit<T> {
  /** If more items than this would wait, `overflow` replaces all of them. */
  readonly max: number;
  readonly overflow: T;
}

/** Needs a few hundred bytes while idle: no generator, timer or signal, and no map until something has to wait. */
export function createCoalescingQueue<T>(
  keyOf: (item: T) => unknown,
  limit?: QueueLimit<T>,
  whenLeft?: () => void,
): CoalescingQueue<T> {
  return new KeyedReader(keyOf, limit, whenLeft);
}

const over = { done: true, value: undefined } as const;

/** A class, because there are tens of thousands of these, and they share its methods. */
class KeyedReader<T> implements CoalescingQueue<T> {
  readonly #keyOf: (item: T) => unknown;
  readonly #limit: QueueLimit<T> | undefined;
  readonly #whenLeft: (() => void) | undefined;
  #waiting: Map<unknown, T> | undefined;
  /** Continues after the items taken: each new iterator would first skip the gaps that they left. */
  #order: MapIterator<[unknown, T]> | undefined;
  #wake: ((result: IteratorResult<T, undefined> | Promise<never>) => void) | undefined;
  #isWaking = false;
  #isOver = false;
  #failure: Error | undefined;

  constructor(keyOf: (item: T) => unknown, limit?: QueueLimit<T>, whenLeft?: () => void) {
    this.#keyOf = keyOf;
    this.#limit = limit;
    this.#whenLeft = whenLeft;
  }

  get size(): number {
    return this.#waiting?.size ?? 0;
  }

  push(item: T): void {
    this.pushAll([item]);
  }

  pushAll(items: readonly T[]): void {
    if (this.#isOver || items.length === 0) return;
    const isFull = this.#limit && this.size + items.length > this.#limit.max;
    if (isFull) this.#waiting = this.#order = undefined;
    this.#waiting ??= new Map();
    for (const item of isFull ? [this.#limit!.overflow] : items) this.#waiting.set(this.#keyOf(item), item);
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
    if (!this.#waiting) return undefined;
    this.#order ??= this.#waiting.entries();
    const [key, value] = this.#order.next().value as [unknown, T];
    this.#waiting.delete(key);
    if (this.#waiting.size === 0) this.#waiting = this.#order = undefined;
    return { done: false, value };
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#wake) return Promise.reject(new TypeError("a reader has one consumer, and it is already waiting"));
    const next = this.#takeFirst();
    if (next) return Promise.resolve(next);
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure) return Promise.reject(failure);
    if (this.#isOver) return Promise.resolve(over);
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  end(failure?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = this.#order = undefined;
    if (this.#wake) this.#wake(failure ? Promise.reject(failure) : over);
    else this.#failure = failure;
    this.#wake = undefined;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.end();
    this.#failure = undefined;
    this.#whenLeft?.();
    return Promise.resolve(over);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
