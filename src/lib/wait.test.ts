import { describe, expect, it } from "vitest";
import { wait } from "./wait.ts";

describe("waiting", () => {
  it("ends when its time is up", async () => {
    await expect(wait(1, new AbortController().signal)).resolves.toBeUndefined();
  });

  it("ends immediately with the signal, with the signal's reason", async () => {
    const stop = new AbortController();
    const waited = wait(1_000_000, stop.signal);
    stop.abort(new Error("enough"));
    await expect(waited).rejects.toThrow("enough");
    await expect(wait(1_000_000, stop.signal)).rejects.toThrow("enough");
  });
});
