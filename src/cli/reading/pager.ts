/** Starts a pager, if the user wants one, once the output is longer than a screen. */
import { once } from "node:events";
import { Writable } from "node:stream";
import { quote } from "../../errors.ts";
import { type CommandContext, flag } from "../command.ts";
import { print } from "../print.ts";

export const pagerFlag = flag("Show output longer than the screen in PRESSMARK_PAGER, PAGER or less");

/** Undefined without a terminal, or if no pager is wanted. */
export function createPager(isWanted: boolean, { out, err, env }: CommandContext) {
  if (!out.isTTY || !(isWanted || env["PRESSMARK_PAGER"])) return undefined;
  const [program, ...words] = (env["PRESSMARK_PAGER"] || env["PAGER"] || "less")
    .split(" ")
    .filter((word) => word !== "");
  if (program === undefined) return undefined;
  const rows = Math.max(2, out.rows ?? 24);
  const left = new AbortController();
  const held: Buffer[] = [];
  let lines = 0;
  /** Destination once the output is longer than a screen. */
  let sink: Writable | undefined;
  let ended: Promise<void> | undefined;

  async function take(chunk: Buffer): Promise<void> {
    if (left.signal.aborted) return;
    if (sink) return pass(sink, chunk);
    held.push(chunk);
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
    if (lines < rows) return;
    sink = await start();
    await pass(sink, Buffer.concat(held.splice(0)));
  }

  /** Ignores that the pager was quit in the meantime. */
  async function pass(to: Writable, chunk: Buffer): Promise<void> {
    await Promise.race([print(to, chunk), ended ?? never]).catch((cause: unknown) => {
      if (!ended) throw cause;
    });
  }

  async function start(): Promise<Writable> {
    // Loaded on demand, to keep the start fast.
    const { spawn } = await import("node:child_process");
    const child = spawn(program!, words, { stdio: ["pipe", "inherit", "inherit"], env: { LESS: "FRX", ...env } });
    child.stdin.on("error", () => {});
    const hasBegun = await once(child, "spawn").then(
      () => true,
      () => false,
    );
    if (hasBegun) {
      ended = once(child, "close").then(() => left.abort());
      return child.stdin;
    }
    err.write(`pressmark: the pager ${quote(program!)} cannot be started; set PRESSMARK_PAGER to another program\n`);
    return out;
  }

  const paged = new Writable({
    write(chunk: Buffer, _, done) {
      take(chunk).then(() => done(), done);
    },
  });
  return {
    out: Object.assign(paged, { isTTY: true, columns: out.columns ?? 80, rows }),
    /** Aborted when the user has quit the pager. */
    left: left.signal,
    /** Writes the rest, and resolves when the user has quit the pager. */
    async finish(): Promise<void> {
      await new Promise<void>((done) => paged.end(done));
      if (!sink) return print(out, Buffer.concat(held));
      if (!ended) return;
      sink.end();
      await ended;
    },
  };
}

const never = new Promise<never>(() => {});
