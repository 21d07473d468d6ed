/** A page with the picker in it, over Resources that are the page's own. `connect` of `pressmark/client` gives those of a server. */
import { definePicker } from "pressmark/picker";

const notes = new Map([
  ["note://home/shopping", "# Shopping\n\n- bread\n- tea\n"],
  ["note://home/letters", "# Letters\n\nTo be written.\n"],
]);
const describe = (uri) => ({ uri, name: uri.slice(uri.lastIndexOf("/") + 1), mimeType: "text/markdown" });
const missing = (uri) => new Error(`no note at ${uri}`);
const all = () => [...notes.keys()].map(describe);

const picker = document.querySelector("pressmark-picker");
picker.resources = {
  list: async () => ({ items: all() }),
  async children(uri) {
    if (uri !== "note://home") throw missing(uri);
    return { items: all() };
  },
  async read(uri) {
    const text = notes.get(uri);
    if (text === undefined) throw missing(uri);
    return { contents: [{ ...describe(uri), body: { text } }], ttlMs: 0, scope: "private" };
  },
  templates: async () => ({ items: [] }),
  complete: async () => ({ values: [] }),
  async stat(uri) {
    if (!notes.has(uri)) throw missing(uri);
    return describe(uri);
  },
  async search({ text }) {
    const found = all().filter(({ uri }) => notes.get(uri).toLowerCase().includes(text.toLowerCase()));
    return { hits: found.map((resource) => ({ resource, score: 1 })), ready: 1 };
  },
  watch: async () => ({ uris: [], async *[Symbol.asyncIterator]() {} }),
  listFreshness: { ttlMs: 0, scope: "private" },
};
picker.addEventListener("choose", ({ detail }) => {
  document.querySelector("output").textContent = detail.resources.map(({ uri }) => uri).join(" ");
});
definePicker();
