/** Runs `pick` in a test. */
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import { main } from "../main.ts";
import type { Stand } from "../test-command.ts";

/** The text to wait for, and the keys to press then. */
export type PickSteps = readonly (readonly [see: string | RegExp, press: string])[];

/** A terminal that records its output, and a user who presses the next key when the expected text appears. */
export async function pickIn(
  stand: Stand,
  words: readonly string[],
  steps: PickSteps,
  { columns = 100, rows = 12 } = {},
) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (isRaw: boolean) => raws.push(isRaw) });
  const raws: boolean[] = [];
  const err = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  const out = new PassThrough();
  let seen = "";
  let said = "";
  let printed = "";
  const waiting = [...steps];
  out.on("data", (chunk: Buffer) => (printed += String(chunk)));
  err.on("data", (chunk: Buffer) => {
    seen += String(chunk);
    said += String(chunk);
    const [next] = waiting;
    if (!next || !(typeof next[0] === "string" ? seen.includes(next[0]) : next[0].test(seen))) return;
    waiting.shift();
    seen = "";
    input.write(next[1]);
  });
  const code = await main(["pick", ...words], {
    version: "1.2.3",
    folder: stand.folder,
    env: { HOME: stand.folder, XDG_STATE_HOME: `${stand.folder}/../state`, NO_COLOR: "1" },
    input,
    out,
    err,
    signal: new AbortController().signal,
  });
  expect(waiting, said).toEqual([]);
  return { code, printed, said, raws };
}
