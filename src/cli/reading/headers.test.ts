import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPolicy } from "../../access/policy.ts";
import { createProtocol } from "../../protocol/create-protocol.ts";
import { createReadingTools } from "../../protocol/tools/reading-tools.ts";
import { createResources, type LocalResources } from "../../router/create-resources.ts";
import { createRuntime } from "../../server/runtime.ts";
import { createMemory, type Memory } from "../../sources/memory.ts";
import { type Listening, listen } from "../../transport/listen.ts";
import { loadCommand } from "../commands/index.ts";
import { createStand, type Stand } from "../test-command.ts";
import { resourceAccessFlags } from "./resource-access.ts";

const token = "t0p-secret-token";
const template = "greet/{planet}";

let stand: Stand;
let memory: Memory;
let pressmark: LocalResources;
let listening: Listening;

/** A server that requires the token. */
beforeAll(async () => {
  stand = createStand();
  stand.write("token.txt", `Bearer ${token}\n`);
  stand.write("bare.txt", token);
  memory = createMemory(
    { "readme.md": "# Far away\n\nA needle.\n" },
    {
      templates: [
        {
          template,
          name: "greeting",
          read: ({ planet = "" }) => [{ body: { text: `hello ${planet}` } }],
          complete: () => ["mars"],
        },
      ],
    },
  );
  const mount = { name: "far", base: "memory://far/", source: memory.source };
  const runtime = createRuntime({ write: () => true });
  pressmark = createResources({ mounts: [mount], policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  const reading = createReadingTools({ resources: pressmark, server: "far", mounts: () => [mount] });
  listening = await listen(
    createProtocol({ resources: pressmark, server: { name: "far", version: "1" }, tools: reading }),
    {
      port: 0,
      graceMs: 0,
      identify: ({ headers }) => (headers.authorization === `Bearer ${token}` ? { id: "me" } : undefined),
    },
  );
});

afterAll(async () => {
  await listening.close();
  await pressmark.close();
  stand.remove();
});

const env = { TOKEN: token, EMPTY: "" };
const far = (words: readonly string[], ...headers: readonly string[]) =>
  stand.run([...words, "--server", listening.url, ...headers.flatMap((header) => ["--header", header])], { env });

const fromEnvironment = "Authorization: Bearer ${env:TOKEN}";

describe("a server that asks who one is", () => {
  it.each([
    [["ls"], "memory://far/readme.md"],
    [["tree"], "readme.md"],
    [["read", "readme.md"], "# Far away"],
    [["stat", "readme.md"], "text/markdown"],
    [["search", "needle"], "needle"],
    [["gather", "a needle"], "A needle."],
    [["complete", `memory://far/${template}`, "planet", "m"], "mars"],
  ] as const)("is told by %j", async (words, expected) => {
    expect(await far(words, fromEnvironment)).toMatchObject({ code: 0, out: expect.stringContaining(expected) });
    const unknown = await far(words);
    expect(unknown).toMatchObject({ code: 3, out: "", err: expect.stringContaining("--header") });
  });

  it("is sent by watch", async () => {
    const words = ["watch", "readme.md", "--once", "--server", listening.url, "--header", fromEnvironment];
    const { out, code } = await stand.run(words, {
      env,
      heard: (text) => {
        if (text.includes("watching")) memory.set("readme.md", "# Farther away\n\nA needle.\n");
      },
    });
    expect([code, out]).toEqual([0, expect.stringContaining("memory://far/readme.md")]);
  });

  it.each(["ls", "tree", "read", "stat", "search", "gather", "watch", "pick", "complete"])(
    "is what %s may be pointed to, with the same two flags",
    async (name) => {
      const { flags } = (await loadCommand(name))!;
      expect([flags["server"], flags["header"]]).toEqual([resourceAccessFlags.server, resourceAccessFlags.header]);
    },
  );

  it("can be read from a file", async () => {
    for (const header of ["Authorization: @token.txt", "authorization:Bearer ${file:bare.txt}"])
      expect(await far(["ls"], header), header).toMatchObject({ code: 0 });
  });

  it("refuses a wrong token, without repeating it", async () => {
    const { code, err } = await far(["ls"], "Authorization: Bearer wrong-and-secret");
    expect([code, err]).toEqual([3, expect.stringContaining("check the token")]);
    expect(err).not.toContain("wrong-and-secret");
  });
});

describe("a header", () => {
  it.each([
    ["nothing", "takes a name and a value"],
    ["a b: c", "takes a name and a value"],
    [": c", "takes a name and a value"],
    ["X-Key:", "has no value"],
    ["X-Key: ${env:EMPTY}", "has no value"],
    ["X-Key: ${env:MISSING}", 'the environment variable "MISSING" is not set'],
    ["X-Key: @missing.txt", 'no file "missing.txt"'],
    ["X-Key: s3cret\r\nX-Other: 1", "not allowed in a header"],
    ["X-Key: s3cret日", "not allowed in a header"],
  ])("%j is refused without its value", async (header, expected) => {
    const { code, err } = await far(["ls"], header);
    expect([code, err]).toEqual([2, expect.stringContaining(expected)]);
    expect(err).not.toContain("s3cret");
  });

  it("goes with an address alone", async () => {
    for (const words of [["ls"], ["ls", "--server", "some-program"]])
      expect(await stand.run([...words, "--header", "A: b"])).toMatchObject({
        code: 2,
        err: expect.stringContaining("--header works only with"),
      });
  });
});
