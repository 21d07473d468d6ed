import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createProgress } from "./progress.ts";

/** A terminal, a clock, and everything that was written. */
function stand(isTTY: boolean, columns = 40) {
  const err = Object.assign(new PassThrough(), { isTTY, columns });
  const clock = { ms: 0 };
  const progress = createProgress(err, () => clock.ms);
  const said = (): string => String(err.read() ?? "");
  return { clock, progress, said };
}

describe("progress", () => {
  it("is one line that is written over, and gone in the end", () => {
    const { clock, progress, said } = stand(true);
    progress.show("1 resource…");
    clock.ms = 1000;
    progress.show("1,000 resources…");
    expect(said()).toBe("\r\u001b[2K1,000 resources…");
    clock.ms = 1050;
    progress.show("1,500 resources…");
    expect(said()).toBe("");
    clock.ms = 1100;
    progress.show("2,000 resources…");
    expect(said()).toBe("\r\u001b[2K2,000 resources…");
    progress.clear();
    expect(said()).toBe("\r\u001b[2K");
    progress.clear();
    expect(said()).toBe("");
  });

  it("is not shown for what takes no time", () => {
    const { clock, progress, said } = stand(true);
    progress.show("1 resource…");
    clock.ms = 200;
    progress.show("2 resources…");
    progress.clear();
    expect(said()).toBe("");
  });

  it("fits the terminal, so that it can be erased", () => {
    const { clock, progress, said } = stand(true, 10);
    progress.show("1 resource…");
    clock.ms = 1000;
    progress.show("12,000,000 resources…");
    expect(said()).toBe("\r\u001b[2K12,000,0…");
  });

  it("is never written where nobody looks", () => {
    const { clock, progress, said } = stand(false);
    progress.show("1 resource…");
    clock.ms = 1000;
    progress.show("1,000 resources…");
    progress.clear();
    expect(said()).toBe("");
  });
});
