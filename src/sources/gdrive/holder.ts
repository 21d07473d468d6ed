/** Identifies the process that lists a log, so that others wait for it only while it runs. */
import { hostname } from "node:os";

/** Process id, machine, and a random part. */
export function createHolder(): string {
  return `${process.pid} ${hostname()} ${crypto.randomUUID()}`;
}

/** Whether the process of a holder still runs, as far as this machine can tell. */
export function isAlive(holder: string): boolean {
  const [pid, machine] = holder.split(" ");
  if (machine !== hostname()) return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
}
