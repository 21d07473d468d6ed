/** Questions that are withdrawn, that take long, and that say how far they have come. */
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../wire/json.ts";
import { isRecord } from "../wire/json.ts";
import { counting, createGate, sampleContents } from "./fixtures.ts";
import { base, legacyLegs, legs, modernLegs, openTestServer } from "./harness.ts";
import { settled } from "./line/create-line.ts";

describe.for(legs)("a withdrawn question over $transport in $revision", (leg) => {
  it("is stopped and not answered, and the conversation goes on (LEG-63, MOD-53, MOD-60, MOD-68)", async () => {
    const gate = createGate();
    await using pressmark = await openTestServer({ sampleContents, templates: [gate.template] });
    const line = await pressmark.line(leg);
    // Progress opens the stream of an HTTP answer, which is what a modern client hangs up on.
    const asked = await line.start("resources/read", { uri: `${base}gated/a` }, { meta: { progressToken: "t" } });
    await gate.entered("a");
    await asked.cancel();
    await gate.cancelled("a");
    gate.open("b");
    const { result } = await settled(await line.start("resources/read", { uri: `${base}gated/b` }));
    expect(isRecord(result) && result["contents"]).toMatchObject([{ text: "through b\n" }]);
  });

  it("that was answered, or never asked, is ignored (LEG-63, MOD-53)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const asked = await line.start("resources/list");
    await settled(asked);
    for (const params of [{ requestId: asked.id }, { requestId: "nobody" }, { requestId: null }, {}])
      await line.notify("notifications/cancelled", params as JsonRecord);
    expect(await line.result("resources/list")).toHaveProperty("resources");
    expect(line.unasked.size).toBe(0);
  });
});

describe.for(legacyLegs)("a listener over $transport in $revision", (leg) => {
  it("cannot withdraw another's question (LEG-63)", async () => {
    const gate = createGate();
    await using pressmark = await openTestServer({ sampleContents, templates: [gate.template] });
    const [mine, theirs] = [await pressmark.line(leg), await pressmark.line(leg)];
    const asking = mine.start("resources/read", { uri: `${base}gated/mine` }, { id: "shared" });
    await gate.entered("mine");
    await theirs.notify("notifications/cancelled", { requestId: "shared" });
    await theirs.result("ping");
    gate.open("mine");
    expect(await settled(await asking)).toMatchObject({ result: { contents: [{ text: "through mine\n" }] } });
  });
});

describe.for(legs)("progress over $transport in $revision", (leg) => {
  it("is told to who asked for it, rising, and ends with the answer (LEG-49, LEG-64, MOD-58, MOD-68)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [counting] });
    const line = await pressmark.line(leg);
    const asked = await line.start(
      "resources/read",
      { uri: `${base}counting/3` },
      { meta: { progressToken: "steps" } },
    );
    await settled(asked);
    const seen: number[] = [];
    while (asked.said.size > 0) {
      const { method, params } = await asked.said.next();
      expect(method).toBe("notifications/progress");
      expect(params).toMatchObject({ progressToken: "steps", total: 3 });
      if (isRecord(params)) seen.push(Number(params["progress"]));
    }
    expect(seen).toEqual([1, 2, 3]);
  });

  it("is not told to who did not ask (LEG-64)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [counting] });
    const line = await pressmark.line(leg);
    await line.result("resources/read", { uri: `${base}counting/3` });
    expect(line.unasked.size).toBe(0);
  });
});

describe.for(modernLegs)("a listen over $transport", (leg) => {
  it("that is withdrawn says nothing more (MOD-38, MOD-53, MOD-60)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const gone = await line.hear({ uris: [`${base}notes.txt`] });
    const kept = await line.hear({ uris: [`${base}notes.txt`] });
    await gone.close();
    // A question after the withdrawal is answered after it was taken.
    await line.result("resources/list");
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await kept.next()).toEqual({ updated: `${base}notes.txt` });
    expect([gone.size, line.unasked.size]).toEqual([0, 0]);
  });
});

describe.for(legs)("a question that takes too long over $transport in $revision", (leg) => {
  it("is given up, and its source is told so (LEG-32, MOD-68)", async () => {
    const gate = createGate();
    const layers = { timeoutMs: { read: 50 }, attempts: 1 };
    await using pressmark = await openTestServer({ sampleContents, templates: [gate.template], layers });
    const line = await pressmark.line(leg);
    expect((await line.error("resources/read", { uri: `${base}gated/late` })).code).toBe(-32603);
    await gate.cancelled("late");
    expect(await line.result("resources/list")).toHaveProperty("resources");
  });
});
