/** Numbers from numbers. */

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this share of the values lies; NaN when there are none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)]!;
  const above = sorted[Math.ceil(at)]!;
  return below + (above - below) * (at - Math.floor(at));
}
