/** Any JSON value as the arguments of the tools that read: the answer is one for a model, never long, and never a word about the inside. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectDiscreet, expectServed } from "./attacker.ts";
import { type TestServer, memoryBase, open, openTestServer, secret } from "./test-server.ts";

const seed = 20_260_728;

let pressmark: TestServer;
beforeAll(async () => {
  pressmark = await openTestServer();
  await mkdir(join(pressmark.folder, "shelf", "many"));
  for (let at = 0; at < 600; at += 1)
    await writeFile(join(pressmark.folder, "shelf", "many", `${"長".repeat(60)}${at}`), "x");
  await writeFile(join(pressmark.folder, "big.txt"), "a\n".repeat(2_000_000));
});
afterAll(async () => {
  await expectServed(pressmark);
  expect(pressmark.log.filter((line) => line.includes(" error: "))).toEqual([]);
  await pressmark[Symbol.asyncDispose]();
});

/** What a tool says of these arguments; a refusal is a result, too. */
async function use(name: string, args: unknown): Promise<string> {
  const { result, error } = await ask(pressmark, "tools/call", { name, arguments: args });
  if (error) {
    // Only what is no object of arguments at all is a fault of the protocol.
    expect(typeof args !== "object" || args === null || Array.isArray(args), JSON.stringify(args)).toBe(true);
    expect(error.code).toBe(-32602);
  }
  const text = JSON.stringify(result ?? error);
  expect(text.length).toBeLessThan(400_000);
  expect(text).not.toContain(secret);
  if (result?.["isError"]) {
    expect(text.length).toBeLessThan(16_384);
    expectDiscreet(text.replaceAll(pressmark.folder, ""), pressmark);
  }
  return text;
}

const sharp = fc.constantFrom<unknown>(
  "__proto__",
  "\0",
  "\ud800",
  "",
  " ",
  "%",
  "%00",
  "%zz",
  "../..",
  "/etc/passwd",
  "..%2f..%2foutside.txt",
  "file:///",
  "file:///etc/passwd",
  "file://localhost/etc/passwd",
  "memory:",
  memoryBase,
  "{",
  "**/**/**/**/**/**/**/x",
  "[!",
  "{a,{b,{c,d}}}".repeat(8),
  `{長,b}${"{長,*}".repeat(8)}**/*長*長*長*長x`,
  `**/${"*長".repeat(40)}x`,
  "(a+)+$",
  '"',
  "-",
  "path:",
  "1-",
  "-1",
  "0-999999999999999",
  "999999999999999-",
  "1-2-3",
  "\u202e",
  "a\r\nb",
  -0,
  2 ** 53,
  -1,
  1.5,
  1e308,
  [],
  {},
  null,
  true,
  "x".repeat(70_000),
  "会".repeat(3000),
);
const value = fc.oneof({ weight: 3, arbitrary: sharp }, fc.jsonValue({ maxDepth: 2 }), fc.string({ unit: "binary" }));
const bare = () => pressmark.base.slice(0, -1);
const uri = fc.oneof(
  value,
  fc
    .constantFrom(
      open.name,
      "big.txt",
      "shelf",
      "shelf/many",
      "shelf/many/",
      ".env",
      "link-out.txt",
      "folder-out/x",
      "id_rsa",
    )
    .map((name) => ({ below: name })),
);

/** A URI below the server, whose place is known only when it stands. */
const placed = (given: unknown): unknown =>
  typeof given === "object" && given !== null && "below" in given ? `${bare()}/${String(given.below)}` : given;

describe("whatever is passed to", () => {
  const shapes: Readonly<Record<string, fc.Arbitrary<Record<string, unknown>>>> = {
    search_resources: fc.record({ query: value, limit: value, within: uri }, { requiredKeys: [] }),
    list_resources: fc.record({ within: uri, glob: value, limit: value, cursor: value }, { requiredKeys: [] }),
    read_resource: fc.record({ uri, lines: value, bytes: value }, { requiredKeys: [] }),
  };

  it.each(Object.keys(shapes))("%s, it answers", async (name) => {
    const args = fc.oneof({ weight: 9, arbitrary: shapes[name]! }, value);
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const isArguments = typeof given === "object" && given !== null && !Array.isArray(given);
        const here = isArguments
          ? Object.fromEntries(Object.entries(given).map(([key, each]) => [key, placed(each)]))
          : given;
        await use(name, here);
      }),
      { seed, numRuns: 150 },
    );
  });

  it.each([
    ".env",
    ".ENV",
    "id_rsa",
    ".git/config",
    "keys/server.pem",
    "link-out.txt",
    "folder-out/outside.txt",
    "%2e%2e/outside.txt",
  ])("read_resource, %s is not there", async (name) => {
    for (const spelled of [
      pressmark.base + name,
      name,
      `${pressmark.base}./${name}`,
      `${pressmark.base}${name}?as=text`,
    ])
      for (const more of [{}, { lines: "1-2" }, { bytes: "0-9" }]) {
        const said = await use("read_resource", { uri: spelled, ...more });
        expect(said).toContain('"isError":true');
      }
  });

  it("list_resources, hidden names fit no pattern", async () => {
    for (const glob of ["**", "**/*", ".env", "**/.*", "**/id_rsa", "{.env,open.txt}", "*"]) {
      const said = await use("list_resources", { glob, limit: 500 });
      expect(said).not.toMatch(/\/\.env|id_rsa|\.pem|outside\.txt|node_modules|\.git\//i);
    }
  });

  it("read_resource at once by many, everyone is answered", async () => {
    const uris = Array.from({ length: 60 }, (_, at) => `${pressmark.base}shelf/many/${"長".repeat(59)}${at}x`);
    const said = await Promise.all(uris.map((each) => use("read_resource", { uri: each })));
    for (const each of said) expect(each).toMatch(/"isError":true/);
  });
});
