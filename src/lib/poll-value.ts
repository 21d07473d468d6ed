/** Calls `changed` when a value differs from the one before, from the call on until the signal is aborted. Keeps no process running. */
export function pollValue(current: () => string, everyMs: number, changed: () => void, signal: AbortSignal): void {
  if (signal.aborted) return;
  let before = current();
  const polling = setInterval(() => {
    const now = current();
    if (now === before) return;
    before = now;
    changed();
  }, everyMs);
  polling.unref();
  signal.addEventListener("abort", () => clearInterval(polling), { once: true });
}
