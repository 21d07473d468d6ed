/** How the CPU time of a function grows with the length of its input. Ratios within one process: a loaded machine slows both sides alike. */

export type Work = () => unknown;

/** CPU time of this process in milliseconds, the least of several runs: what else the machine does only ever adds to it. */
export async function cpuMs(work: Work, times: number): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < times; count += 1) {
    const before = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}

export interface Growth {
  /** The length of the shorter of the two inputs that were compared; the time for it, and for one four times as long. */
  readonly length: number;
  readonly ms: number;
  readonly longerMs: number;
}

/** What takes less is not compared: it is lost in noise, and holds up no one. */
const floorMs = 10;
/** What took so long and grew as it may need not be tried with more. */
const enoughMs = 60;
/** Four times the input may take so many times as long: 4 in proportion to it, 16 in proportion to its square. */
const maxRatio = 9;
const firstLength = 512;

/**
 * The growth that is too much; undefined where there is none. The input is doubled until the time can be measured or the limit is reached, so
 * that what is hopelessly slow is found while it is short. Seen once, it may be the machine: it must be seen for two lengths in a row, or go on beyond the limit.
 */
export async function findGrowth(work: (length: number) => Work, maxLength: number): Promise<Growth | undefined> {
  let seen: Growth | undefined;
  for (let length = Math.min(firstLength, maxLength >> 2); 4 * length <= maxLength; length *= 2) {
    const longer = work(4 * length);
    if ((await cpuMs(longer, 1)) < floorMs) continue;
    const growth = await measure(work(length), longer, length);
    const isTooMuch = growth.longerMs >= floorMs && ratioOf(growth) > maxRatio;
    const isLast = 8 * length > maxLength || growth.longerMs > 20 * enoughMs;
    if (isTooMuch && (seen || growth.longerMs > 20 * enoughMs)) return growth;
    if (isTooMuch && isLast && growth.longerMs > 2 * enoughMs) {
      // A single step, as when the garbage collector has more to do from some size on, does not go on.
      const beyond = await measure(longer, work(16 * length), 4 * length);
      return ratioOf(beyond) > maxRatio ? growth : undefined;
    }
    if (!isTooMuch && growth.longerMs > enoughMs) return undefined;
    seen = isTooMuch ? growth : undefined;
  }
  return undefined;
}

function ratioOf({ ms, longerMs }: Growth): number {
  return longerMs / ms;
}

/** Each as fast as it can be: warmed up, and again where it seems to be too slow. */
async function measure(shorter: Work, longer: Work, length: number): Promise<Growth> {
  let [ms, longerMs] = [await cpuMs(shorter, 3), await cpuMs(longer, 2)];
  if (longerMs / ms > maxRatio)
    [ms, longerMs] = [Math.min(ms, await cpuMs(shorter, 9)), Math.min(longerMs, await cpuMs(longer, 5))];
  return { length, ms, longerMs };
}

let unit: Promise<number> | undefined;

/** The time of a fixed piece of work, 10 ms on the machine on which the limits were measured: what may take 200 ms may take twenty of these. */
export function referenceMs(): Promise<number> {
  unit ??= measureReference();
  return unit;
}

async function measureReference(): Promise<number> {
  const text = 'The kettle boils at a hundred degrees; token = "none", https://example.org/a?b=c\n'.repeat(12_000);
  const work = (): number => {
    let sum = 0;
    for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) | 0;
    for (const { index } of text.matchAll(/[a-z]+:\/\/[^\s]+|\b\w+\s?=/g)) sum ^= index;
    return sum;
  };
  await cpuMs(work, 3);
  return cpuMs(work, 7);
}
