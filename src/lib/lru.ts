/** A map that holds the most recently used entries, as many as its limits permit. */

interface LruLimits<K, V> {
  readonly maxEntries?: number;
  /** Limit of the sum of all sizes. A larger entry is not stored. */
  readonly maxSize?: number;
  readonly sizeOf?: (value: V, key: K) => number;
}

/** `get` and `set` make an entry the most recently used one; iteration begins with the least recently used one. */
export class Lru<K, V> extends Map<K, V> {
  readonly #limits: LruLimits<K, V>;
  #size = 0;

  constructor(limits: LruLimits<K, V>) {
    super();
    this.#limits = limits;
  }

  /** Sum of all sizes. */
  get totalSize(): number {
    return this.#size;
  }

  override get(key: K): V | undefined {
    const value = super.get(key);
    if (value === undefined) return undefined;
    super.delete(key);
    super.set(key, value);
    return value;
  }

  override set(key: K, value: V): this {
    const { maxEntries = Infinity, maxSize = Infinity, sizeOf = () => 0 } = this.#limits;
    const size = sizeOf(value, key);
    this.delete(key);
    if (size > maxSize) return this;
    super.set(key, value);
    this.#size += size;
    for (const oldest of this.keys()) {
      if (this.size <= maxEntries && this.#size <= maxSize) break;
      this.delete(oldest);
    }
    return this;
  }

  override delete(key: K): boolean {
    const value = super.get(key);
    if (value !== undefined) this.#size -= this.#limits.sizeOf?.(value, key) ?? 0;
    return super.delete(key);
  }

  override clear(): void {
    super.clear();
    this.#size = 0;
  }
}
