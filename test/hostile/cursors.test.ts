/** A cursor that was not given is refused: changed in any byte, shortened, or carried to another question. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, expectServed, type Rpc } from "./attacker.ts";
import { type TestServer, memoryBase, openTestServer } from "./test-server.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function cursorIn({ result }: Rpc): string {
  const cursor = result?.["nextCursor"];
  if (typeof cursor !== "string") throw new Error("there is no next page");
  return cursor;
}

async function expectRefused(asked: Promise<Rpc>): Promise<void> {
  const { error } = await asked;
  expect(error?.code).toBe(-32602);
  expect(JSON.stringify(error).length).toBeLessThan(512);
}

describe("a cursor", () => {
  let pressmark: TestServer;
  beforeAll(async () => {
    pressmark = await openTestServer({ pageSize: 3 });
  });
  afterAll(() => pressmark[Symbol.asyncDispose]());

  const list = (cursor: string) => ask(pressmark, "resources/list", { cursor });
  const children = (path: string, cursor: string) => ask(pressmark, "resources/directory/read", { uri: path, cursor });

  it("that was changed in any one character is refused", async () => {
    const cursor = cursorIn(await ask(pressmark, "resources/list"));
    expect((await list(cursor)).result).toBeDefined();
    for (let at = 0; at < cursor.length; at++) {
      const old = alphabet.indexOf(cursor.charAt(at));
      // One bit of it, and all of it.
      for (const other of [alphabet.charAt(old ^ 1), alphabet.charAt(old ^ 32), "=", "+", "\0"])
        await expectRefused(list(cursor.slice(0, at) + other + cursor.slice(at + 1)));
    }
    await expectServed(pressmark);
  });

  it("that was shortened, lengthened or spelled otherwise is refused", async () => {
    const cursor = cursorIn(await ask(pressmark, "resources/list"));
    for (let length = 0; length < cursor.length; length += 7) await expectRefused(list(cursor.slice(0, length)));
    for (const other of [
      `${cursor}A`,
      `${cursor}=`,
      `${cursor}==`,
      ` ${cursor}`,
      `${cursor}\n`,
      cursor + cursor,
      cursor.toLowerCase(),
    ])
      await expectRefused(list(other));
    const bytes = Buffer.from(cursor, "base64url");
    await expectRefused(list(bytes.toString("hex")));
    if (bytes.toString("base64") !== cursor) await expectRefused(list(bytes.toString("base64")));
    for (const flip of [0, 1, 12, 13, bytes.length - 17, bytes.length - 1]) {
      const forged = Buffer.from(bytes);
      forged.writeUInt8((forged.at(flip) ?? 0) ^ 0x80, flip);
      await expectRefused(list(forged.toString("base64url")));
    }
  });

  it("of one question is refused by every other", async () => {
    const [shelf, room, folder] = [`${pressmark.base}shelf`, memoryBase, pressmark.base.slice(0, -1)];
    const listed = cursorIn(await ask(pressmark, "resources/list"));
    const ofShelf = cursorIn(await ask(pressmark, "resources/directory/read", { uri: shelf }));
    const ofRoom = cursorIn(await ask(pressmark, "resources/directory/read", { uri: room.slice(0, -1) }));
    await expectRefused(list(ofShelf));
    await expectRefused(list(ofRoom));
    await expectRefused(children(shelf, listed));
    await expectRefused(children(shelf, ofRoom));
    await expectRefused(children(folder, ofShelf));
    await expectRefused(children(folder, listed));
    for (const cursor of [listed, ofShelf, ofRoom])
      for (const method of ["resources/templates/list", "tools/list", "prompts/list"])
        await expectRefused(ask(pressmark, method, { cursor }));
    expect((await children(shelf, ofShelf)).result).toBeDefined();
  });

  it("that is cut and pasted from two is refused", async () => {
    const first = cursorIn(await ask(pressmark, "resources/list"));
    const second = cursorIn(await list(first));
    expect(second).not.toBe(first);
    for (let at = 4; at < first.length; at += 16) {
      await expectRefused(list(first.slice(0, at) + second.slice(at)));
      await expectRefused(list(second.slice(0, at) + first.slice(at)));
    }
  });
});
