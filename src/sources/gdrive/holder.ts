/** Who looks at all files of a log, so that others wait for them as long as they are there. */
import { hostname } from "node:os";

/** The number of the process, its machine, and what tells its lookers apart. */
export function createHolder(): string {
  return `${process.pid} ${hostname()} ${crypto.randomUUID()}`;
}

/** Whether the process that a holder belongs to is still there, as far as one can tell from here. */
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
