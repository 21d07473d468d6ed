/** A line over two streams: one message is one line of UTF-8. */
import type { Readable, Writable } from "node:stream";
import type { Revision } from "../../wire/schemas.ts";
import { createLine } from "./create-line.ts";
import type { Line } from "./line.ts";

export interface Pipes {
  /** What the server reads. */
  readonly input: Writable;
  /** What the server writes. */
  readonly output: Readable;
  close(): Promise<void>;
}

export async function stdioLine(revision: Revision, { input, output, close }: Pipes): Promise<Line> {
  let hearer: ((message: unknown) => void) | undefined;
  readLines(output, (text) => hearer?.(parsed(text)));

  const send = (message: unknown, hear: (message: unknown) => void): void => {
    hearer = hear;
    input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  };

  return createLine("stdio", revision, {
    async request(message, hear) {
      send(message, hear);
      return {};
    },
    async send(message, hear) {
      send(message, hear);
    },
    close,
  });
}

/** Only the line feed ends a line: JSON may hold other line breaks of Unicode. */
export function readLines(output: Readable, take: (line: string) => void): void {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  output.on("data", (chunk: Buffer) => {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return `no JSON on stdout: ${text}`;
  }
}
