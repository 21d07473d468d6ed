/** The clock of file timestamps: comparable with ctime and mtime, and with nothing else. It may be set back. */
export function fileClockMs(): number {
  return Date.now();
}
