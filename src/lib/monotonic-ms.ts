/** Milliseconds that only ever go forward, without the module behind Node's `performance`, which takes its time to load. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
