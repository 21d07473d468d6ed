/** The clock that the system stamps files with: comparable with their ctime and mtime, and with nothing else. It may be set back. */
export function fileClockMs(): number {
  return Date.now();
}
