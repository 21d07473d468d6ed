/** Runs a command in a test: own folder, captured streams, and a terminal if wanted. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { main } from "./main.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly bytes: Buffer;
  readonly err: string;
}

export interface RunOptions {
  /** The current folder. */
  readonly from?: string;
  /** Whether standard output is a terminal, and its width. */
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Standard input. */
  readonly input?: string;
  /** Called with standard error and output as they arrive. */
  readonly heard?: (text: string) => void;
}

export interface Stand {
  readonly folder: string;
  /** Prefix of the folder's URIs. */
  readonly base: string;
  write(path: string, content?: string | Uint8Array): void;
  run(words: readonly string[], options?: RunOptions): Promise<Ran>;
  remove(): void;
}

export function createStand(): Stand {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-cli-")));
  const folder = join(root, "files");
  mkdirSync(folder);
  return {
    folder,
    base: `${pathToFileURL(folder).href}/`,
    write(path, content = "") {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    },
    async run(words, { from = folder, terminal = false, columns, env = {}, signal, input, heard } = {}) {
      const out = Object.assign(new PassThrough(), { isTTY: terminal, ...(columns !== undefined && { columns }) });
      const err = new PassThrough();
      const output = Promise.all([collect(out, heard), collect(err, heard)]);
      const code = await main(words, {
        version: "1.2.3",
        folder: from,
        env: { HOME: root, XDG_STATE_HOME: join(root, "state"), NO_COLOR: "1", ...env },
        input: input === undefined ? new PassThrough() : new PassThrough().end(input),
        out,
        err,
        signal: signal ?? new AbortController().signal,
      });
      out.end();
      err.end();
      const [bytes, complaints] = await output;
      return { code, out: bytes.toString(), bytes, err: complaints.toString() };
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

async function collect(stream: PassThrough, heard?: (text: string) => void): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    heard?.(String(chunk));
  }
  return Buffer.concat(chunks);
}
