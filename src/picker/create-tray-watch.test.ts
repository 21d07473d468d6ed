import { expect, it, vi } from "vitest";
import { wholeUri } from "../lib/passage-uri.ts";
import { notFound, ResourceError } from "../errors.ts";
import type { Change, Resource } from "../resources.ts";
import { createPicker } from "./create-picker.ts";
import { settled, testServer } from "./test-server.ts";
import { passageOf } from "./tray.ts";

const file: Resource = { uri: "x:///a", name: "a" };

function until(claim: () => unknown): Promise<unknown> {
  return vi.waitUntil(claim, { interval: 1 });
}

/** A server whose one resource the test changes. */
async function serve() {
  const world = { text: "one", version: "1" as string | undefined, isGone: false, isDown: false };
  const watches: { readonly uris: readonly string[]; readonly signal: AbortSignal; tell(change: Change): void }[] = [];
  const stats = new Set<string>();
  const picker = createPicker(async () =>
    testServer({
      async read(uri) {
        if (world.isDown) throw new ResourceError("unavailable", "down");
        return { contents: [{ uri, body: { text: world.text } }], ttlMs: 0, scope: "private" };
      },
      async stat(uri, { signal }) {
        await settled();
        signal.throwIfAborted();
        stats.add(uri);
        if (world.isGone) throw notFound(uri);
        if (world.version === undefined) throw new ResourceError("unsupported", "no metadata");
        return { ...file, uri, annotations: { lastModified: world.version } };
      },
      async watch({ uris = [], list }, { signal }) {
        if (world.isDown) throw new ResourceError("unavailable", "down");
        const { readable, writable } = new TransformStream<Change, Change>();
        const writer = writable.getWriter();
        if (list !== true) watches.push({ uris, signal, tell: (change) => void writer.write(change) });
        return Object.assign(readable, { uris });
      },
    }),
  );
  await picker.start();
  return {
    picker,
    world,
    watches,
    async choose(resource: Resource): Promise<void> {
      picker.choose([resource]);
      await until(() => picker.state.tray.every(({ tokens }) => tokens) && stats.has(wholeUri(resource.uri)));
      await settled();
    },
    update: () => watches.forEach(({ tell }) => tell({ kind: "updated", uri: file.uri })),
    mark: () => picker.state.tray[0]?.change,
  };
}

it("marks what was changed, and counts it again, until the person has seen it", async () => {
  const { picker, world, choose, update, mark } = await serve();
  await choose(passageOf(file, [1, 2]));
  const before = picker.state.tray[0]?.tokens;
  Object.assign(world, { version: "2", text: "one and two and three" });
  update();
  await until(() => mark() === "updated");
  expect(picker.state.tray[0]?.tokens).not.toEqual(before);
  picker.seen("x:///other");
  expect(mark()).toBe("updated");
  picker.seen(picker.state.tray[0]!.resource.uri);
  expect(mark()).toBeUndefined();
  world.version = "3";
  update();
  await until(() => mark() === "updated");
  picker.preview(file);
  expect(mark()).toBeUndefined();
});

it("marks nothing if the version is the same, and what is gone as gone until it is back", async () => {
  const { picker, world, choose, update, mark } = await serve();
  await choose(file);
  const { tray } = picker.state;
  update();
  await until(() => picker.state.tray !== tray);
  expect(mark()).toBeUndefined();
  world.isGone = true;
  update();
  await until(() => mark() === "gone");
  picker.seen(file.uri);
  expect(mark()).toBe("gone");
  world.isGone = false;
  update();
  await until(() => mark() === undefined);
});

it("compares the tokens if the server tells no version", async () => {
  const { picker, world, choose, update, mark } = await serve();
  world.version = undefined;
  await choose(file);
  const { tray } = picker.state;
  update();
  await until(() => picker.state.tray !== tray);
  expect(mark()).toBeUndefined();
  world.text = "quite another text";
  update();
  await until(() => mark() === "updated");
});

it("does not mark what the person looks at", async () => {
  const { picker, world, choose, update, mark } = await serve();
  await choose(file);
  picker.preview(file);
  await until(() => picker.state.preview?.status === "ready");
  const { tray } = picker.state;
  world.version = "2";
  update();
  await until(() => picker.state.tray !== tray);
  expect(mark()).toBeUndefined();
});

it("watches each resource once, at most a hundred, in one watch", async () => {
  const { picker, watches, choose } = await serve();
  await choose(file);
  picker.choose([passageOf({ uri: "x:///b", name: "b" }, [1, 2]), passageOf({ uri: "x:///b", name: "b" }, [9, 9])]);
  await until(() => watches.length === 2);
  expect(watches[1]?.uris).toEqual(["x:///a", "x:///b"]);
  await until(() => watches[0]?.signal.aborted);
  picker.choose(Array.from({ length: 150 }, (_, at) => ({ uri: `x:///${at}`, name: `${at}` })));
  await until(() => watches.length === 3);
  expect(watches[2]?.uris.length).toBe(100);
  picker.clearTray();
  await until(() => watches.every(({ signal }) => signal.aborted));
});

const other: Resource = { uri: "x:///b", name: "b" };

it("marks a change also after two quick choices, and if it is reported twice", async () => {
  const { picker, world, watches, choose, update, mark } = await serve();
  picker.choose([file]);
  await until(() => watches.length === 1);
  await choose(other);
  await until(() => watches.length === 2 && watches[0]?.signal.aborted);
  world.version = "2";
  update();
  update();
  await until(() => mark() === "updated");
  const { tray } = picker.state;
  update();
  await until(() => picker.state.tray !== tray);
  expect(mark()).toBe("updated");
});

it("keeps the old watch while the server is down, and watches all when it is back", async () => {
  const { picker, world, watches, choose, mark } = await serve();
  await choose(file);
  world.isDown = true;
  picker.choose([other]);
  await until(() => picker.state.isLost);
  expect(watches.map(({ signal }) => signal.aborted)).toEqual([false]);
  Object.assign(world, { isDown: false, version: "2" });
  picker.loadSets();
  await until(() => watches[0]?.signal.aborted);
  expect(watches[1]?.uris).toEqual([file.uri, other.uri]);
  await until(() => mark() === "updated");
});
