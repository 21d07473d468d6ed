import { mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import type { Policy } from "../access/policy.ts";
import { withStandardLayers } from "../layers/standard.ts";
import { createResources } from "../router/create-resources.ts";
import { createRedaction } from "../server/redaction.ts";
import { createRuntime } from "../server/runtime.ts";
import file from "../sources/file.ts";
import { createProtocol } from "./create-protocol.ts";

const validatorKey = "pressmark/validator";
const declared = { extensions: { "pressmark/conditional-reads": {} } };
/** A password, which the mount masks. */
const secret = "password = hunter2hunter2\n";

interface Result {
  readonly contents: readonly unknown[];
  readonly _meta: Readonly<Record<string, unknown>>;
}

/** Files in a folder behind all layers, and requests of one caller. */
async function open() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-conditional-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const runtime = createRuntime({ write: () => true });
  const hidden = new Set<string>();
  const policy: Policy = { maySee: (_caller, _mount, { path }) => !hidden.has(path) };
  const options = file.options(z).parse({ root: folder });
  const opened = await file.open(options, runtime);
  const source = withStandardLayers(opened, { name: "m" }, runtime, { redact: createRedaction(runtime).layer });
  const resources = createResources({
    mounts: [{ name: "m", base: "m://", source }],
    policy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  onTestFinished(() => resources.close());
  const protocol = createProtocol({ resources, server: { name: "test", version: "1" } });

  function read(path: string, clientCapabilities: object, validator?: string): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
      ...(validator !== undefined && { [validatorKey]: validator }),
    };
    protocol.exchange(
      { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: `m://${path}`, _meta } },
      undefined,
      { caller: { id: "aki" }, signal: new AbortController().signal },
      {
        notify: () => undefined,
        end: (wire) => resolve((wire ?? []).map((piece) => Buffer.from(piece as string).toString()).join("")),
      },
    );
    return promise;
  }
  async function ask(path: string, validator?: string): Promise<Result> {
    return (JSON.parse(await read(path, declared, validator)) as { result: Result }).result;
  }
  return { folder, hidden, read, ask };
}

it("gives contents a validator, and no contents to a client that has it", async () => {
  const { folder, ask } = await open();
  writeFileSync(join(folder, "a.txt"), "one");
  const first = await ask("a.txt");
  expect(first.contents).toMatchObject([{ uri: "m://a.txt", text: "one" }]);
  const validator = String(first._meta[validatorKey]);
  expect(validator).toMatch(/^[\w-]{43}$/);
  expect(first._meta).not.toHaveProperty("pressmark/unchanged");
  const again = await ask("a.txt", validator);
  expect(again).toEqual({
    ...first,
    contents: [],
    _meta: { ...first._meta, "pressmark/unchanged": true },
  });
  writeFileSync(join(folder, "a.txt"), "two");
  expect((await ask("a.txt", validator)).contents).toMatchObject([{ text: "two" }]);
});

it("sends the same bytes as ever to a client that did not declare the extension", async () => {
  const { folder, ask, read } = await open();
  writeFileSync(join(folder, "a.txt"), "one");
  const validator = String((await ask("a.txt"))._meta[validatorKey]);
  const plain =
    '{"jsonrpc":"2.0","id":1,"result":{"contents":[{"uri":"m://a.txt","mimeType":"text/plain","text":"one"}],' +
    '"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"}}}}';
  for (const capabilities of [{}, { extensions: {} }, { extensions: { "pressmark/conditional-reads": true } }])
    expect(await read("a.txt", capabilities, validator)).toBe(plain);
});

it("tells a caller who lost access the same as one who asks for nothing", async () => {
  const { folder, hidden, ask, read } = await open();
  writeFileSync(join(folder, "a.txt"), "one");
  const validator = String((await ask("a.txt"))._meta[validatorKey]);
  hidden.add("a.txt");
  const refused = await read("a.txt", declared, validator);
  expect(refused).toBe((await read("b.txt", declared, validator)).replace("m://b.txt", "m://a.txt"));
  expect(refused).toContain('"error"');
});

it("tells texts apart whose lone surrogates are different", async () => {
  const { validatorOf } = await import("./encode-contents.ts");
  const of = (text: string) => validatorOf([{ uri: "m://a", body: { text } }]);
  expect(of("\ud800")).not.toBe(of("\ud801"));
  expect(of("\ud800")).not.toBe(of("\ufffd"));
  expect(validatorOf([{ uri: "m://a", body: { bytes: Buffer.from("ab") } }])).not.toBe(of("ab"));
});

/** Forms of one file that a read can ask for. */
const forms = ["a.txt", "a.txt?lines=1-1", "a.txt?lines=2-2", "a.txt?bytes=0-3"];
const texts = ["x\ny\n", "x\nz\n", "w\ny\n", `${secret}y\n`, `x\n${"long line\n".repeat(3000)}`];
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("write"), text: fc.constantFrom(...texts) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("hide", "show") }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("read"), form: fc.constantFrom(...forms) }) },
);

/** With these first, every run has a read whose answer is that nothing changed. */
const wholeRead = { kind: "read", form: "a.txt" };
const start = [{ kind: "write", text: texts[0]! }, wholeRead, wholeRead];

it("never says unchanged when an unconditional read returns something else", async () => {
  let unchanged = 0;
  const numRuns = 40;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const { folder, hidden, ask, read } = await open();
      const path = join(folder, "a.txt");
      /** The client's copy of each form. */
      const held = new Map<string, { validator: string; contents: unknown }>();
      for (const each of [...start, ...steps]) {
        if ("text" in each) {
          writeFileSync(path, each.text);
          // The time of modification alone would not tell.
          utimesSync(path, 1, 1);
        } else if (each.kind === "remove") rmSync(path, { force: true });
        else if (each.kind === "hide") hidden.add("a.txt");
        else if (each.kind === "show") hidden.clear();
        if (!("form" in each)) continue;
        const known = held.get(each.form);
        const plain = await read(each.form, {});
        const { result: expected } = JSON.parse(plain) as { result?: Result };
        if (!expected) {
          expect(await read(each.form, declared, known?.validator)).toBe(plain);
          continue;
        }
        const { contents, _meta: meta } = await ask(each.form, known?.validator);
        const isUnchanged = meta["pressmark/unchanged"] === true;
        if (isUnchanged) unchanged += 1;
        expect(isUnchanged ? known?.contents : contents).toEqual(expected.contents);
        expect(isUnchanged).toBe(JSON.stringify(known?.contents) === JSON.stringify(expected.contents));
        held.set(each.form, { validator: String(meta[validatorKey]), contents: expected.contents });
      }
    }),
    { numRuns },
  );
  expect(unchanged).toBeGreaterThanOrEqual(numRuns);
});
