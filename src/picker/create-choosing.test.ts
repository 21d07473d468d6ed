import { expect, it, vi } from "vitest";
import { ResourceError } from "../errors.ts";
import { directoryType, type Resource } from "../resources.ts";
import { createPicker, type Picker, type PickerResources } from "./create-picker.ts";
import { testServer } from "./test-server.ts";
import { passageOf, trayTotal } from "./tray.ts";

const many = Array.from({ length: 250 }, (_, at): Resource => ({ uri: `x:///${at}`, name: `${at}` }));

async function pickerOn(parts: Partial<PickerResources>): Promise<Picker> {
  const picker = createPicker(async () => testServer(parts));
  await picker.start();
  return picker;
}

/** Waits until everything in the tray is counted. */
function counted(picker: Picker): Promise<unknown> {
  return vi.waitUntil(() => picker.state.tray.every(({ tokens }) => tokens !== undefined), { interval: 1 });
}

it("counts with the server's tool, a hundred at a time, and says what is exact", async () => {
  const calls: string[][] = [];
  const picker = await pickerOn({
    tools: async () => ["count_tokens"],
    async useTool(_name, { uris }) {
      calls.push(uris as string[]);
      const counts = (uris as string[]).map((uri) =>
        uri.endsWith("7") ? { uri, problem: "has no text" } : { uri, tokens: 3, isExact: !uri.endsWith("8") },
      );
      return { texts: [], links: [], structured: { counts } };
    },
    read: () => Promise.reject(new Error("nothing may be read")),
  });
  picker.choose(many);
  await counted(picker);
  expect(calls.flat().toSorted()).toEqual(many.map(({ uri }) => uri).toSorted());
  expect(calls.every((uris) => uris.length <= 100)).toBe(true);
  expect(picker.state.tray.slice(6, 9).map(({ tokens }) => tokens)).toEqual([
    { count: 3, isExact: true },
    "none",
    { count: 3, isExact: false },
  ]);
});

it.each([
  ["fails", () => Promise.reject(new ResourceError("invalid", "no"))],
  ["returns something else", async () => ({ texts: [], links: [], structured: { counts: "many" } })],
])("estimates from the text if the tool %s, and marks it", async (_what, useTool) => {
  const picker = await pickerOn({ tools: async () => ["count_tokens"], useTool });
  picker.choose(many.slice(0, 3));
  await counted(picker);
  expect(picker.state.tray[0]?.tokens).toMatchObject({ isExact: false });
});

it("counts the text of a document", async () => {
  const asked: unknown[] = [];
  const picker = await pickerOn({
    tools: async () => ["count_tokens"],
    async useTool(_name, { uris }) {
      asked.push(uris);
      return { texts: [], links: [], structured: { counts: [{ uri: "x:///p?as=text", tokens: 5, isExact: true }] } };
    },
  });
  picker.choose([{ uri: "x:///p", name: "p", mimeType: "application/pdf", meta: { "pressmark/as": ["text"] } }]);
  await counted(picker);
  expect(asked).toEqual([["x:///p?as=text"]]);
  expect(picker.state.tray[0]?.tokens).toEqual({ count: 5, isExact: true });
});

const bytes = new Uint8Array([1]);
/** A server with a set of one document. Sets name no forms of their members. */
const withDocument = (asText: () => Promise<string>): Partial<PickerResources> => ({
  async read(uri) {
    const freshness = { ttlMs: 0, scope: "private" } as const;
    if (uri === "set://s") {
      const text = JSON.stringify({ resources: [{ uri: "x:///p", name: "p" }] });
      return { contents: [{ uri, body: { text } }], ...freshness };
    }
    if (uri === "x:///p?as=text") return { contents: [{ uri, body: { text: await asText() } }], ...freshness };
    return { contents: [{ uri, mimeType: "application/pdf", body: { bytes } }], ...freshness };
  },
});

it("copies the text of a document in a set that was opened", async () => {
  const picker = await pickerOn(withDocument(async () => "its text"));
  await picker.openSet({ uri: "set://s", name: "s" });
  await counted(picker);
  expect(picker.state.tray[0]?.tokens).toMatchObject({ isExact: false });
  expect(await picker.written("markdown")).toMatchObject({ text: expect.stringContaining("its text"), withoutText: 0 });
});

it("refuses to write nothing", async () => {
  const picker = await pickerOn(withDocument(() => Promise.reject(new ResourceError("unsupported", "encrypted"))));
  await picker.openSet({ uri: "set://s", name: "s" });
  await expect(picker.written("markdown")).rejects.toThrow("none of the chosen resources has text");
  expect(await picker.written("uris")).toMatchObject({ text: "x:///p\n", withoutText: 0 });
});

it.each([[], ["count_tokens"]])("removes the lines after the last one (%s)", async (...names) => {
  const beyond = new ResourceError("invalid", "none", { details: { reason: "beyond-end", total: 7 } });
  const picker = await pickerOn({
    tools: async () => names,
    read: () => Promise.reject(beyond),
    async useTool(_name, { uris }) {
      const counts = (uris as string[]).map((uri) => ({
        uri,
        ...(uri.endsWith("-") ? { problem: "none" } : { tokens: 1 }),
      }));
      return { texts: [], links: [], structured: { counts } };
    },
  });
  const file = { uri: "x:///a", name: "a" };
  picker.choose([file]);
  await counted(picker);
  picker.toggle(passageOf(file, [3, 7]));
  await vi.waitUntil(() => picker.state.tray.length === 1, { interval: 1 });
  expect(picker.state.tray[0]?.resource.uri).toBe("x:///a?lines=1-2");
});

it("counts again when the server is back", async () => {
  let isDown = true;
  const answer = async <T>(value: T): Promise<T> => {
    if (isDown) throw new ResourceError("unavailable", "down");
    return value;
  };
  const picker = await pickerOn({
    read: (uri) => answer({ contents: [{ uri, body: { text: "text" } }], ttlMs: 0, scope: "private" }),
    children: (uri) => answer({ items: uri === "x:///d" ? [{ uri: "x:///d/1", name: "1" }] : [] }),
  });
  const file = { uri: "x:///a", name: "a.ts", mimeType: "text/typescript", size: 390 };
  picker.choose([file, { uri: "x:///d", name: "d", mimeType: directoryType }]);
  await vi.waitUntil(() => picker.state.isLost && picker.state.tray[1]?.folder?.isCounting === false, { interval: 1 });
  expect(picker.state.tray).toMatchObject([{ resource: file }, { folder: { files: 0, failed: 1 } }]);
  expect(picker.state.tray[0]?.tokens).toBeUndefined();
  expect(trayTotal(picker.state.tray)).toEqual({ count: expect.closeTo(100, -2), isExact: false });
  isDown = false;
  picker.loadSets();
  await vi.waitUntil(() => picker.state.tray[0]?.tokens && picker.state.tray[1]?.folder?.files === 1, { interval: 1 });
  expect(picker.state.tray).toMatchObject([{ tokens: { isExact: false } }, { folder: { failed: 0 } }]);
});
