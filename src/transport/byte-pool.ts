/** A shared memory limit: when it is reached, the largest holder must release memory, not the latest one. */

export interface BytePool {
  /** `giveUp` releases some memory, and reports it with `resize` before it returns. */
  open(giveUp: () => void): ByteShare;
  readonly held: number;
}

export interface ByteShare {
  /** Sets how much is held. May call `giveUp` of this or another share. */
  resize(bytes: number): void;
}

interface Share {
  readonly giveUp: () => void;
  bytes: number;
}

/** Shares are grouped in levels, each a fifth larger than the previous: the largest are found without a full scan. */
const levelOf = (bytes: number): number => (bytes <= 0 ? 0 : 1 + Math.floor(4 * Math.log2(bytes)));

export function createBytePool(maxBytes: number): BytePool {
  /** By level. Empty shares are in none. */
  const levels: Set<Share>[] = [];
  let held = 0;

  function largest(): Share | undefined {
    for (let level = levels.length - 1; level > 0; level--) for (const share of levels[level] ?? []) return share;
    return undefined;
  }

  function move(share: Share, bytes: number): void {
    const [before, after] = [levelOf(share.bytes), levelOf(bytes)];
    held += bytes - share.bytes;
    share.bytes = bytes;
    if (before === after) return;
    levels[before]?.delete(share);
    if (after > 0) (levels[after] ??= new Set()).add(share);
  }

  /** A share that releases nothing is not called again. */
  function shrink(): void {
    for (;;) {
      const before = held;
      if (before > maxBytes) largest()?.giveUp();
      if (held >= before) return;
    }
  }

  return {
    open(giveUp) {
      const share: Share = { giveUp, bytes: 0 };
      return {
        resize(bytes) {
          const grows = bytes > share.bytes;
          move(share, bytes);
          if (grows) shrink();
        },
      };
    },
    get held() {
      return held;
    },
  };
}
