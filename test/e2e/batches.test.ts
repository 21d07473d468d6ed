/** Batches: a word of 2025-03-26 alone. */
import { describe, expect, it } from "vitest";
import { isRecord } from "../wire/json.ts";
import { sampleContents } from "./fixtures.ts";
import { base, legs, openTestServer } from "./harness.ts";

const batch = [
  { jsonrpc: "2.0", id: "a", method: "ping" },
  { jsonrpc: "2.0", method: "notifications/nobody/knows" },
  { jsonrpc: "2.0", id: "b", method: "resources/read", params: { uri: `${base}notes.txt` } },
  { jsonrpc: "2.0", id: "c", method: "resources/write" },
  17,
];

describe.for(legs.filter(({ transport }) => transport !== "sse"))("a batch over $transport in $revision", (leg) => {
  it("is answered where the revision has batches, and refused where not (LEG-34, LEG-30, MOD-1)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    await line.send(batch);
    if (leg.revision !== "2025-03-26") {
      expect(await line.unasked.next()).toMatchObject({ error: { code: -32600 } });
      return;
    }
    const answers = [];
    for (let count = 0; count < 4; count += 1) answers.push(await line.unasked.next());
    const byId = new Map(answers.map((answer) => [answer["id"], answer]));
    expect(byId.get("a")).toMatchObject({ result: {} });
    expect(byId.get("b")).toMatchObject({ result: { contents: [{ text: "Buy ink.\n" }] } });
    expect(byId.get("c")).toMatchObject({ error: { code: -32601 } });
    expect(byId.get(null)).toMatchObject({ error: { code: -32600 } });
  });

  it("that is empty, or opens a session, is refused (LEG-34)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    await line.send([]);
    const { error } = await line.unasked.next();
    expect(isRecord(error) && error["code"]).toBe(-32600);
  });
});
