import { describe, expect, it } from "vitest";
import { notFound, ResourceError } from "../errors.ts";
import { type Change, directoryType, type Page, type Resource } from "../resources.ts";
import { createPicker, type Picker, type PickerResources } from "./create-picker.ts";

const root: Resource = { uri: "a://x", name: "x", mimeType: directoryType };
const named = (...names: readonly string[]): readonly Resource[] =>
  names.map((name) => ({ uri: `a://x/${name}`, name }));

/** Everything that was under way and waits for nobody is done. */
const settled = () => new Promise((done) => setTimeout(done));

interface Question {
  readonly cursor: string | undefined;
  readonly answer: PromiseWithResolvers<Page<Resource>>;
}

/** A server of one mount, whose questions for its folder wait to be answered. */
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

describe("the tree's questions", () => {
  it("are asked one after the other for a folder, so that no page stands twice", async () => {
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
    // Something new stands first now; all of it is asked for again.
    questions[2]?.answer.resolve({ items: named("0", "1", "2"), next: "2" });
    await settled();
    questions[3]?.answer.resolve({ items: named("3", "4") });
    await settled();
    expect(namesIn(picker)).toEqual(["0", "1", "2", "3", "4"]);
    expect(questions).toHaveLength(4);
  });

  it("leave the only mount closed once a person has closed it", async () => {
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

  it("leave what was found in sight when the server is still gone", async () => {
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
