/** Runs a command as a process: streams, signals, exit code. */
import { main } from "./main.ts";
import { plain } from "./print.ts";

/** A terminal signals every process of a group, and npm or our launcher may forward the signal once more. */
const echoMs = 300;

/** Runs the command line of this process; called once, by `bin/pressmark.js`. */
export async function runProcess({ version }: { readonly version: string }): Promise<void> {
  // The reader closed the pipe (`| head`): not an error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  // A server keeps running when nobody reads its log.
  process.stderr.on("error", () => {});

  // Packages write to the console, even texts of remote servers. Standard output may carry the protocol.
  Object.assign(console, { log: note, debug: note, info: note, warn: note, error: note });

  const stop = new AbortController();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (): void => {
    if (stop.signal.aborted) return;
    stop.abort();
    // Afterwards the default applies: a signal ends the process immediately, even while the event loop is busy.
    setTimeout(() => signals.forEach((name) => process.off(name, onSignal)), echoMs).unref();
  };
  for (const name of signals) process.on(name, onSignal);

  process.exitCode = await main(process.argv.slice(2), {
    version,
    folder: process.cwd(),
    env: process.env,
    // Opened only by readers: opening takes a tenth of the start time.
    get input() {
      return process.stdin;
    },
    out: process.stdout,
    err: process.stderr,
    signal: stop.signal,
  });
}

/** A line that neither controls the terminal nor looks like one of the log. */
function note(...words: readonly unknown[]): void {
  process.stderr.write(`pressmark: ${plain(words.map(String).join(" "))}\n`);
}
