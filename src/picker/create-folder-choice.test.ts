import { expect, it, vi } from "vitest";
import { directoryType, type Page, type Resource } from "../resources.ts";
import { choiceKey } from "./choice-key.ts";
import { createPicker } from "./create-picker.ts";
import { testServer } from "./test-server.ts";
import { choiceOf, passageOf } from "./tray.ts";

const folder = (uri: string): Resource => ({ uri, name: uri, mimeType: directoryType });
const root = folder("x:///d");

/** A server whose lists of folders the test settles. */
function serve() {
  const lists = new Map<string, PromiseWithResolvers<Page<Resource>> & { readonly signal: AbortSignal }>();
  const pressmark = testServer({
    children(uri, { cursor = "" }, { signal }) {
      const list = { ...Promise.withResolvers<Page<Resource>>(), signal };
      lists.set(uri + cursor, list);
      signal.addEventListener("abort", () => list.reject(signal.reason));
      return list.promise;
    },
  });
  /** Waits for the request. */
  const listed = (key: string) => vi.waitUntil(() => lists.get(key), { interval: 1 });
  return { picker: createPicker(async () => pressmark), lists, listed };
}

it("counts a folder while it is listed, and stops when it is unchosen", async () => {
  const { picker, lists, listed } = serve();
  await picker.start();
  picker.toggle(root);
  const size = () => picker.state.tray[0]?.folder;
  const answer = async (key: string, page: Page<Resource>) => (await listed(key)).resolve(page);
  expect(size()).toMatchObject({ files: 0, isCounting: true });
  const [one, two] = [
    { uri: "x:///d/1", name: "1", size: 360 },
    { uri: "x:///d/2", name: "2" },
  ];
  await answer("x:///d", { items: [one, folder("x:///d/e")], next: "+" });
  await vi.waitUntil(() => size()?.files === 1, { interval: 1 });
  expect(size()).toMatchObject({ unsized: 0, isCounting: true });
  await answer("x:///d/e", { items: [{ uri: "x:///d/e/p", name: "p", mimeType: "image/png", size: 9 }] });
  await answer("x:///d+", { items: [two] });
  await vi.waitUntil(() => size()?.isCounting === false, { interval: 1 });
  expect(size()).toMatchObject({ files: 3, unsized: 1, failed: 0, isMore: false });

  lists.clear();
  picker.toggle(two);
  const again = await listed("x:///d");
  expect(picker.state.tray).toMatchObject([{ except: ["x:///d/2"], folder: { isCounting: true } }]);
  picker.toggle(one);
  expect(again.signal.aborted).toBe(true);
  picker.clearTray();
  expect((await listed("x:///d")).signal.aborted).toBe(true);
  expect(picker.state.tray).toEqual([]);
});

it("expands folders in the order of the tray, each file once", async () => {
  const { picker, lists, listed } = serve();
  await picker.start();
  picker.choose([{ uri: "y:///2", name: "2" }, root, folder("z:///")]);
  await listed("z:///");
  lists.clear();
  const expanded = picker.expanded();
  const file = { uri: "x:///d/1", name: "1" };
  for (const uri of ["x:///d", "z:///"])
    (await listed(uri)).resolve({ items: [file, { uri: `${uri}/own`, name: "own" }] });
  expect((await expanded).resources.map(({ uri }) => uri)).toEqual(["y:///2", "x:///d/1", "x:///d/own", "z:////own"]);
});

it("stops expanding when it is cancelled; counting leaves the choice the same", async () => {
  const { picker, lists, listed } = serve();
  await picker.start();
  picker.toggle(root);
  const before = choiceKey(picker.state.tray);
  (await listed("x:///d")).resolve({ items: [{ uri: "x:///d/1", name: "1" }] });
  await vi.waitUntil(() => picker.state.tray[0]?.folder?.files === 1, { interval: 1 });
  expect(choiceKey(picker.state.tray)).toBe(before);
  lists.clear();
  const ended = new AbortController();
  const expanded = picker.expanded(ended.signal);
  const { signal } = await listed("x:///d");
  ended.abort();
  await expect(expanded).rejects.toThrow("aborted");
  expect(signal.aborted).toBe(true);
  picker.toggle({ uri: "x:///d/1", name: "1" });
  expect(choiceKey(picker.state.tray)).not.toBe(before);
});

it("implies only what its lists contain", async () => {
  const { picker, listed } = serve();
  await picker.start();
  const [diff, inList] = [
    { uri: "x:///d/log/1/diff", name: "diff" },
    { uri: "x:///d/e/1", name: "1" },
  ];
  const choices = () => [diff, inList].map(({ uri }) => choiceOf(picker.state.tray, uri));
  const uris = () => picker.state.tray.map(({ resource, except }) => [resource.uri, ...(except ?? [])]);
  picker.choose([inList]);
  picker.toggle(root);
  expect(choices()).toEqual(["none", "all"]);
  (await listed("x:///d")).resolve({ items: [folder("x:///d/e")] });
  (await listed("x:///d/e")).resolve({ items: [inList] });
  await vi.waitUntil(() => picker.state.tray.length === 1, { interval: 1 });
  expect(choices()).toEqual(["none", "all"]);
  picker.toggle(diff);
  expect(choices()).toEqual(["all", "all"]);
  expect(uris()).toEqual([[root.uri], [diff.uri]]);
  picker.toggle(diff);
  expect(uris()).toEqual([[root.uri]]);
  picker.toggle(passageOf(inList, [1, 2]));
  expect(uris()).toEqual([[root.uri, inList.uri], ["x:///d/e/1?lines=3-"]]);
});
