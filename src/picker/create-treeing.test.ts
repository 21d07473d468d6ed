import { describe, expect, it } from "vitest";
import { notFound, ResourceError } from "../errors.ts";
import { type Change, directoryType, type Page, type Resource } from "../resources.ts";
import { createPicker, type Picker, type PickerResources } from "./create-picker.ts";
import { settled } from "./test-server.ts";

const root: Resource = { uri: "a://x", name: "x", mimeType: directoryType };
const named = (...names: readonly string[]): readonly Resource[] =>
  names.map((name) => ({ uri: `a://x/${name}`, name }));

interface Question {
  readonly cursor: string | undefined;
  readonly answer: PromiseWithResolvers<Page<Resource>>;
}

/** A server with one mount, whose requests for its folder the test settles. */
function serve() {
  const questions: Question[] = [];
  let tell: ReadableStreamDefaultController<Change> | undefined;
  const changes = new ReadableStream<Change>({ start: (controller) => void (tell = controller) });
  const world = { isGone: false };
  const pressmark: PickerResources = {
    async read(uri) {
      if (world.isGone) throw new ResourceError("unavailable", "gone");
      return { contents: [{ uri, body: { text: JSON.stringify({ mounts: [root] }) } }], ttlMs: 0, scope: "private" };
    },
    async templates() {
      if (world.isGone) throw new ResourceError("unavailable", "gone");
      return { items: [] };
    },
    list: async () => ({ items: [] }),
    listFreshness: { ttlMs: 0, scope: "private" },
    children(_uri, { cursor }) {
      const answer = Promise.withResolvers<Page<Resource>>();
      questions.push({ cursor, answer });
      return answer.promise;
    },
    stat: (uri) => Promise.reject(notFound(uri)),
    complete: async () => ({ values: [] }),
    search: async () => ({ hits: [], ready: 1 }),
    watch: async ({ list }) => Object.assign(list === true ? changes : new ReadableStream<Change>(), { uris: [] }),
  };
  return { pressmark, questions, world, changed: () => tell?.enqueue({ kind: "list-changed" }) };
}

function namesIn({ state }: Picker): readonly string[] {
  return state.tree.folders.get(root.uri)?.pages.flatMap((page) => page.map(({ name }) => name)) ?? [];
}

describe("the tree", () => {
  it("requests a folder sequentially, so that no page appears twice", async () => {
    const { pressmark, questions, changed } = serve();
    const picker = createPicker(async () => pressmark);
    await picker.start();
    await settled();
    questions[0]?.answer.resolve({ items: named("1", "2"), next: "2" });
    await settled();
    picker.loadMore(root.uri);
    await settled();
    changed();
    await settled();
    expect(questions.map(({ cursor }) => cursor)).toEqual([undefined, "2"]);
    questions[1]?.answer.resolve({ items: named("3", "4") });
    await settled();
    // A new entry is first now; everything is requested again.
    questions[2]?.answer.resolve({ items: named("0", "1", "2"), next: "2" });
    await settled();
    questions[3]?.answer.resolve({ items: named("3", "4") });
    await settled();
    expect(namesIn(picker)).toEqual(["0", "1", "2", "3", "4"]);
    expect(questions).toHaveLength(4);
  });

  it("leaves the only mount closed once a person has closed it", async () => {
    const { pressmark, questions, changed } = serve();
    const picker = createPicker(async () => pressmark);
    await picker.start();
    await settled();
    questions[0]?.answer.resolve({ items: named("1") });
    await settled();
    picker.closeFolder(root.uri);
    changed();
    await settled();
    await picker.start();
    expect(picker.state.tree.open.size).toBe(0);
  });

  it("keeps showing its entries while the server is down", async () => {
    const { pressmark, questions, world } = serve();
    const picker = createPicker(async () => pressmark);
    await picker.start();
    await settled();
    questions[0]?.answer.resolve({ items: named("1") });
    await settled();
    world.isGone = true;
    await picker.start();
    expect(picker.state).toMatchObject({ connection: "ready", isLost: true });
    expect(namesIn(picker)).toEqual(["1"]);
  });
});
