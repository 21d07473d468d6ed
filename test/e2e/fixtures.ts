/** What the scenarios put into a server: things that wait, count, break, hide, or come in pairs. */
import type { MemoryTemplate, MemoryValue } from "../../src/sources/memory.ts";

export const sampleContents: Readonly<Record<string, MemoryValue>> = {
  "blob.bin": { bytes: Uint8Array.of(0x00, 0x01, 0xfe, 0xff), mimeType: "application/octet-stream" },
  "docs/deep/leaf.md": { text: "# Leaf\n", mimeType: "text/markdown" },
  "docs/guide.md": { text: "# Guide\n", mimeType: "text/markdown" },
  "empty.txt": "",
  "notes.txt": "Buy ink.\n",
  "other.txt": "Something else.\n",
  "rich.json": {
    text: '{"ink":1}\n',
    title: "Everything that can be said",
    description: "A resource with every field",
    mimeType: "application/json",
    annotations: { audience: ["user", "assistant"], priority: 0.8, lastModified: "2026-01-02T03:04:05Z" },
    icons: [{ src: "https://example.com/rich.png", mimeType: "image/png", sizes: ["48x48"], theme: "light" }],
    meta: { "example.com/shelf": 3 },
  },
  "secrets/key.txt": "hidden from readers\n",
  "with space & 100%?#.txt": "Odd, and yet a name.\n",
  "日本語.md": { text: "こんにちは\u2028\n", mimeType: "text/markdown" },
  "emoji 🖋️.txt": "Ink.\n",
};

/** Greets anyone, and suggests whom; the names of the hidden are suggested to those who may know them. */
export const greeting: MemoryTemplate = {
  template: "greetings/{name}",
  name: "greeting",
  title: "Greeting",
  description: "Greets someone by name",
  mimeType: "text/plain",
  read: ({ name }) => [{ body: { text: `Hello, ${name}!\n` }, mimeType: "text/plain" }],
  complete: (_variable, value) => ["ada", "alan", "grace"].filter((name) => name.startsWith(value)),
};

/** Suggests far more than may be said at once, and a name that only its owner may learn. */
export const crowd: MemoryTemplate = {
  template: "crowd/{member}",
  name: "crowd",
  read: ({ member }) => [{ body: { text: String(member) } }],
  complete: (_variable, value) =>
    value === "key"
      ? [{ value: "key.txt", reveals: { path: "secrets/key.txt" } }, "keyless"]
      : Array.from({ length: 250 }, (_, index) => `member-${index}`),
};

/** One read, two contents: the second stands elsewhere. */
export const pair: MemoryTemplate = {
  template: "pairs/{name}",
  name: "pair",
  read: () => [
    { body: { text: "left\n" }, mimeType: "text/plain" },
    { body: { bytes: Uint8Array.of(1, 2, 3) }, mimeType: "image/png", at: { path: "blob.bin" } },
  ],
};

/** Breaks, with a cause that is nobody's business. */
export const broken: MemoryTemplate = {
  template: "broken/{name}",
  name: "broken",
  read: () => {
    throw new Error("password=hunter2 at /srv/private/store.db");
  },
};

/** Says how far it has come before it answers, and stammers: what does not rise must not reach the wire. */
export const counting: MemoryTemplate = {
  template: "counting/{to}",
  name: "counting",
  read({ to }, { progress }) {
    const total = Number(to);
    for (let done = 1; done <= total; done += 1) {
      progress?.(done, total, `step ${done}`);
      progress?.(done, total, "again");
      progress?.(done - 1, total, "back");
    }
    return [{ body: { text: `counted to ${total}\n` }, mimeType: "text/plain" }];
  },
};

export interface Gate {
  readonly template: MemoryTemplate;
  /** Resolves when a read of this name is waiting. */
  entered(name: string): Promise<void>;
  /** Resolves when the read of this name was withdrawn. */
  cancelled(name: string): Promise<void>;
  open(name: string): void;
}

/** Reads that wait until the test lets them go, or until they are withdrawn. */
export function createGate(): Gate {
  const states = new Map<string, Record<"entered" | "cancelled" | "opened", PromiseWithResolvers<void>>>();
  const stateOf = (name: string) => {
    const known = states.get(name);
    if (known) return known;
    const fresh = {
      entered: Promise.withResolvers<void>(),
      cancelled: Promise.withResolvers<void>(),
      opened: Promise.withResolvers<void>(),
    };
    states.set(name, fresh);
    return fresh;
  };
  return {
    template: {
      template: "gated/{name}",
      name: "gated",
      async read({ name = "" }, { signal, progress }) {
        const { entered, cancelled, opened } = stateOf(name);
        signal.addEventListener("abort", () => cancelled.resolve(), { once: true });
        progress?.(1, 2);
        entered.resolve();
        await Promise.race([opened.promise, cancelled.promise]);
        signal.throwIfAborted();
        return [{ body: { text: `through ${name}\n` }, mimeType: "text/plain" }];
      },
    },
    entered: (name) => stateOf(name).entered.promise,
    cancelled: (name) => stateOf(name).cancelled.promise,
    open: (name) => stateOf(name).opened.resolve(),
  };
}
