/** The command as a process: its streams, its signals, its exit code. */
import { main } from "./main.ts";

/** A terminal tells every process of a group to stop, and npm or our own launcher pass it on once more. */
const echoMs = 300;

/** Runs the words of this process's command line; called once, by `bin/pressmark.js`. */
export async function runProcess({ version }: { readonly version: string }): Promise<void> {
  // The reader has seen enough (`| head`), which is no failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  // A server goes on when nobody reads its log any more.
  process.stderr.on("error", () => {});

  const stop = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    // From then on a signal ends the process at once, also while the event loop is busy: that is what the system does by itself.
    setTimeout(() => signals.forEach((name) => process.off(name, onSignal)), echoMs).unref();
  };
  for (const name of signals) process.on(name, onSignal);

  process.exitCode = await main(process.argv.slice(2), {
    version,
    folder: process.cwd(),
    env: process.env,
    // Opened only by who reads it: that alone is a tenth of the time it takes to start.
    get input() {
      return process.stdin;
    },
    out: process.stdout,
    err: process.stderr,
    signal: stop.signal,
  });
}
