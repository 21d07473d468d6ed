/** The client, held to the same promises as the router: over every transport, in both eras. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect, type ConnectOptions, type RemoteServer } from "../../src/client/connect.ts";
import { connectProgram } from "../../src/client/stdio.ts";
import { resourcesContract } from "../../src/testing/resources-contract.ts";
import { base, openTestServer, type TestServer } from "../e2e/harness.ts";
import { greeting } from "../e2e/fixtures.ts";
import { stdioOf } from "../interop/command.ts";

/** encodeURI leaves alone what may stand in a path, and "#" and "?" besides. */
const format = (path: string) => encodeURI(path).replaceAll("#", "%23").replaceAll("?", "%3F");

interface Leg {
  readonly name: string;
  readonly options: ConnectOptions;
  readonly oldest?: boolean;
}

const legs: readonly Leg[] = [
  { name: "HTTP, modern", options: { era: "modern" } },
  { name: "HTTP, legacy", options: { era: "legacy" } },
  { name: "HTTP with SSE", options: {}, oldest: true },
];

for (const { name, options, oldest } of legs) {
  let pressmark: TestServer;
  let remote: RemoteServer | undefined;
  resourcesContract(`the client over ${name},`, {
    async open(content) {
      pressmark = await openTestServer({
        sampleContents: content as Record<string, string>,
        templates: [greeting],
        readingTools: true,
        pageSize: 7,
        http: { graceMs: 0 },
      });
      remote = await connect(oldest ? pressmark.sseUrl : pressmark.url, options);
      return remote;
    },
    uriOf: (path) => `${base}${format(path)}`.replace(/\/$/, ""),
    write: (path, text) => pressmark.memory.set(path, text),
    remove: (path) => void pressmark.memory.delete(path),
    async clear() {
      await remote?.close();
      await pressmark[Symbol.asyncDispose]();
    },
    findable: { text: "needle-in-a-haystack", path: "docs/deep/er/c.txt" },
    completion: { template: `${base}greetings/{name}`, variable: "name", value: "a", expected: "ada" },
  });
}

for (const era of ["modern", "legacy"] as const) {
  let folder = "";
  let remote: RemoteServer | undefined;
  // Searching and completing are asked over HTTP above: here they would wait for the program's index, and need its folder's name.
  resourcesContract(`the client over stdio, ${era},`, {
    async open(content) {
      const scratch = await realpath(await mkdtemp(join(tmpdir(), "pressmark-client-")));
      folder = join(scratch, "folder");
      for (const [path, text = ""] of Object.entries(content)) await put(path, text);
      remote = await connectProgram(stdioOf({ path: folder, state: join(scratch, "state") }), { era });
      return remote;
    },
    uriOf: (path) => `file://${format(join(folder, path))}`,
    write: put,
    remove: (path) => rm(join(folder, path)),
    async clear() {
      await remote?.close();
      await rm(dirname(folder), { recursive: true });
    },
  });

  async function put(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
