/** `27 B`, `1.5 kB` */
export function formatBytes(bytes: number): string {
  let amount = bytes;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    // A value that would round up to 1000 uses the next unit.
    if (unit === "B" ? amount < 1000 : amount < 999.95) return `${unit === "B" ? amount : amount.toFixed(1)} ${unit}`;
    amount /= 1000;
  }
  return `${amount.toFixed(1)} TB`;
}
