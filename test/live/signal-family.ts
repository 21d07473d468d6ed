/** Sends a signal to a process and its children: each connection of PostgreSQL and each worker of nginx is a process. */
import { readFileSync } from "node:fs";

export function signalFamily(pid: number, signal: "SIGSTOP" | "SIGCONT"): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  for (const each of [pid, ...children]) {
    try {
      process.kill(each, signal);
    } catch {
      // The process of a connection has ended meanwhile.
    }
  }
}
