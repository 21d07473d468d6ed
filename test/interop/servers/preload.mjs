/**
 * Loaded into each server before its own program. Writes the ids of the process and its parent into the file that the query names. On SIGUSR2
 * the server receives the tool call that the query names as if its client had sent it, because this gateway passes on no tools.
 */
import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const query = new URL(import.meta.url).searchParams;
if (isMainThread) {
  appendFileSync(query.get("starts"), `${process.pid} ${process.ppid}\n`);
  const call = query.get("call");
  if (call !== null) process.on("SIGUSR2", () => process.stdin.emit("data", Buffer.from(`${call}\n`)));
}
