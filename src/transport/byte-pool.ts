/** Memory that many hold together: when it is used up, whoever holds most gives up of its own, and not whoever comes last. */

export interface BytePool {
  /** `giveUp` lets go of some of what is held, and says so with `resize` before it returns. */
  open(giveUp: () => void): ByteShare;
  readonly held: number;
}

export interface ByteShare {
  /** How much is held from now on. May call `giveUp`, of this share or of another. */
  resize(bytes: number): void;
}

interface Share {
  readonly giveUp: () => void;
  bytes: number;
}

/** Shares stand in levels, each a fifth larger than the one before: the largest are found without looking at all of them. */
const levelOf = (bytes: number): number => (bytes <= 0 ? 0 : 1 + Math.floor(4 * Math.log2(bytes)));

export function createBytePool(maxBytes: number): BytePool {
  /** By level. Shares that hold nothing are in none. */
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

  /** One that gives up nothing is not asked again. */
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
