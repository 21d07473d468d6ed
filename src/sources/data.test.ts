import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openPolicy } from "../access/policy.ts";
import { createResources } from "../router/create-resources.ts";
import { createClock } from "../testing/clock.ts";
import data from "./data.ts";

const call = { caller: { id: "someone" }, signal: new AbortController().signal };

async function pressmark(maxBytes?: number) {
  const options = data.options(z).parse(maxBytes === undefined ? {} : { maxBytes });
  const { runtime } = createClock();
  const source = await data.open(options, runtime);
  return createResources({
    mounts: [{ name: "data", base: data.base!(options), source, verbatim: true }],
    policy: openPolicy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
}

async function read(uri: string) {
  const { contents } = await (await pressmark()).read(uri, call);
  const [content] = contents;
  return content && { ...content, body: "text" in content.body ? content.body.text : [...content.body.bytes] };
}

describe("a data URI", () => {
  it.each([
    ["data:,A%20brief%20note", "text/plain", "A brief note"],
    ["data:text/plain;charset=UTF-8,%E6%97%A5%E6%9C%AC%E8%AA%9E", "text/plain", "日本語"],
    ["data:text/plain,日本語", "text/plain", "日本語"],
    ["data:text/plain;charset=shift_jis;base64,k/qWe4zq", "text/plain", "日本語"],
    ["data:text/plain;charset=%22utf-8%22,x", "text/plain", "x"],
    ["data:application/json;base64,eyJhIjoxfQ==", "application/json", '{"a":1}'],
    ["data:application/json;base64,eyJhIjoxfQ%3D%3D", "application/json", '{"a":1}'],
    ["data:text/html,<a href='./?q=1&q=2'>../x</a>", "text/html", "<a href='./?q=1&q=2'>../x</a>"],
    ["data:text/plain,a//b/../c?d", "text/plain", "a//b/../c?d"],
    ["data:image/png;base64,iVBORw==", "image/png", [0x89, 0x50, 0x4e, 0x47]],
    ["data:application/octet-stream,%00%FF", "application/octet-stream", [0, 255]],
    ["data:text/plain,%FF", "text/plain", [255]],
    ["data:text/plain;charset=klingon,x", "text/plain", [0x78]],
    ["data:,", "text/plain", ""],
    ["DATA:,x", "text/plain", "x"],
  ])("is read: %s", async (uri, mimeType, body) => {
    expect(await read(uri)).toEqual({ uri, mimeType, body });
  });

  it.each([
    ["data:text/plain", "not-found"],
    ["data:text/plain,a#b", "not-found"],
    ["data:nonsense,x", "invalid"],
    ["data:,100%", "invalid"],
    ["data:;base64,a", "invalid"],
    ["data:;base64,%%%", "invalid"],
    ["data:;base64,🙂", "invalid"],
  ])("that is none is refused: %s", async (uri, kind) => {
    await expect(read(uri)).rejects.toMatchObject({ kind });
  });

  it("that holds too much is refused with what is allowed", async () => {
    const { read: readIt } = await pressmark(3);
    expect(await readIt("data:,abc", call)).toMatchObject({ contents: [{ body: { text: "abc" } }] });
    await expect(readIt("data:,abcd", call)).rejects.toMatchObject({
      kind: "too-large",
      details: { size: 4, maxBytes: 3 },
    });
  });

  it("is described without being listed", async () => {
    const { list, stat } = await pressmark();
    expect((await list({}, call)).items).toEqual([]);
    expect(await stat("data:image/png;base64,iVBORw==", call)).toMatchObject({ mimeType: "image/png", size: 4 });
  });
});
