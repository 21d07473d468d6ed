import { expect, it } from "vitest";
import type { Resource } from "../resources.ts";
import { createPicker } from "./create-picker.ts";
import { testServer } from "./test-server.ts";

const [text, gone, bytes, slow] = ["text", "gone", "bytes", "slow"].map((name): Resource => ({
  uri: `x:///${name}`,
  name,
}));

async function pickerOf(...chosen: readonly Resource[]) {
  const picker = createPicker(async () =>
    testServer({
      read: (uri, { signal }) => {
        if (uri === gone!.uri) return Promise.reject(new Error("gone"));
        if (uri === slow!.uri)
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        const body = uri === bytes!.uri ? { bytes: new Uint8Array(1) } : { text: "hello" };
        return Promise.resolve({ contents: [{ uri, body }], ttlMs: 0, scope: "private" });
      },
    }),
  );
  await picker.start();
  picker.choose(chosen);
  return picker;
}

it("distinguishes what has no text from what could not be read", async () => {
  const picker = await pickerOf(text!, gone!, bytes!);
  expect(await picker.written("markdown")).toMatchObject({
    text: expect.stringContaining("hello"),
    withoutText: 1,
    unread: 1,
    failed: 0,
  });
});

it("reports progress, and can be cancelled", async () => {
  const picker = await pickerOf(text!, slow!);
  const { promise, resolve } = Promise.withResolvers<readonly number[]>();
  const written = picker.written("xml", (...progress) => resolve(progress));
  expect(await promise).toEqual([1, 2]);
  picker.stopWriting();
  await expect(written).rejects.toThrow("aborted");
});
