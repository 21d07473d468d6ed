/** Walks all pages of a list again and again, in a process of its own: to parse large pages would delay what the bench measures. */
import { openHttpLine } from "./http-line.ts";
import { list, message, requestHead } from "./questions.ts";

export interface Walked {
  readonly pages: number;
  readonly entries: number;
}

const [port, path = "", durationMs] = process.argv.slice(2);
const line = await openHttpLine(Number(port));
const end = performance.now() + Number(durationMs);
let cursor: string | undefined;
let pages = 0;
let entries = 0;
process.send?.("ready");
while (performance.now() < end) {
  const question = list(cursor);
  const { status, body } = await line.ask(
    requestHead("modern", path, question),
    message("modern", 1_000_000 + pages, question),
    true,
  );
  if (status !== 200) throw new Error(`a list was answered with ${status}`);
  const { result } = JSON.parse(body) as { result: { resources: unknown[]; nextCursor?: string } };
  cursor = result.nextCursor;
  pages += 1;
  entries += result.resources.length;
}
line.close();
process.send?.({ pages, entries } satisfies Walked);
