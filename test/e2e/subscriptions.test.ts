/** What is announced, to whom, and on which stream. */
import { describe, expect, it } from "vitest";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { missingCode, textAt } from "./answers.ts";
import { sampleContents } from "./fixtures.ts";
import { base, legacyLegs, legs, modernLegs, openTestServer } from "./harness.ts";
import { settled } from "./line/create-line.ts";
import type { Line } from "./line/line.ts";

const notes = `${base}notes.txt`;
const other = `${base}other.txt`;
const marker = `${base}empty.txt`;

describe.concurrent.for(legs)("changes over $transport in $revision", (leg) => {
  it("of what was asked for are announced, and of nothing else (S3-9, LEG-11, MOD-31)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const ear = await line.hear({ uris: [notes, marker] });
    expect(ear.uris).toEqual([notes, marker]);
    pressmark.memory.set("other.txt", "unheard\n");
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await ear.next()).toEqual({ updated: notes });
    expect(await textAt(line, notes)).toBe("Buy paper.\n");
    // Word of the other, had there been any, would come before word of what happens only now.
    pressmark.memory.set("empty.txt", "no more\n");
    expect(await ear.next()).toEqual({ updated: marker });
    expect([ear.size, line.unasked.size]).toEqual([0, 0]);
  });

  it("are announced in the spelling that was asked for (LEG-11, MOD-34)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const odd = `${base}%6Eotes.txt`;
    const ear = await line.hear({ uris: [odd] });
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await ear.next()).toEqual({ updated: odd });
  });

  it("of the list are announced when something comes or goes (S3-10, LEG-2, MOD-22)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const ear = await line.hear({ list: true });
    pressmark.memory.set("zebra.txt", "Stripes.\n");
    expect(await ear.next()).toBe("list-changed");
    pressmark.memory.delete("zebra.txt");
    expect(await ear.next()).toBe("list-changed");
  });

  it("are no longer announced once nobody asks (S3-8, LEG-11, MOD-31)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const leaving = await line.hear({ uris: [notes] });
    const staying = await line.hear({ uris: [other, marker] });
    await leaving.close();
    // An answer after the leaving shows that it was taken.
    await line.result("resources/list");
    pressmark.memory.set("notes.txt", "unheard\n");
    pressmark.memory.set("other.txt", "heard\n");
    expect(await staying.next()).toEqual({ updated: other });
    pressmark.memory.set("empty.txt", "heard too\n");
    expect(await staying.next()).toEqual({ updated: marker });
    expect([leaving.size, line.unasked.size]).toEqual([0, 0]);
  });

  it("reach each line that asked, and no other (S3-9, LEG-11, MOD-31)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const [one, two, silent] = [await pressmark.line(leg), await pressmark.line(leg), await pressmark.line(leg)];
    const first = await one.hear({ uris: [notes] });
    const second = await two.hear({ uris: [notes, other] });
    const third = await silent.hear({ uris: [marker] });
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await first.next()).toEqual({ updated: notes });
    expect(await second.next()).toEqual({ updated: notes });
    pressmark.memory.set("empty.txt", "for the silent one\n");
    expect(await third.next()).toEqual({ updated: marker });
    expect([silent.unasked.size, one.unasked.size, two.unasked.size]).toEqual([0, 0, 0]);
  });

  it("go on after the thing is deleted and created again (S3-9, LEG-11)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const ear = await line.hear({ uris: [notes] });
    pressmark.memory.delete("notes.txt");
    expect(await ear.next()).toEqual({ updated: notes });
    expect((await line.error("resources/read", { uri: notes })).code).toBe(missingCode(line));
    pressmark.memory.set("notes.txt", "back\n");
    expect(await ear.next()).toEqual({ updated: notes });
    expect(await textAt(line, notes)).toBe("back\n");
  });

  it("of a directory are those of its direct children (S3-9, LEG-11)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const ear = await line.hear({ uris: [`${base}docs`, notes, marker] });
    expect(ear.uris).toEqual([`${base}docs`, notes, marker]);
    pressmark.memory.set("docs/deep/second.md", "too deep\n");
    pressmark.memory.set("docs/guide.md", "no child came or went\n");
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await ear.next()).toEqual({ updated: notes });
    pressmark.memory.set("empty.txt", "later\n");
    expect(await ear.next()).toEqual({ updated: marker });
    pressmark.memory.set("docs/new.md", "a child\n");
    expect(await ear.next()).toEqual({ updated: `${base}docs` });
  });
});

describe.concurrent.for(legacyLegs)("resources/subscribe over $transport in $revision", (leg) => {
  it("answers with an empty result, again and again, and so does unsubscribing (S3-8)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const method of [
      "resources/subscribe",
      "resources/subscribe",
      "resources/unsubscribe",
      "resources/unsubscribe",
    ])
      expect(await line.result(method, { uri: notes })).toEqual({});
  });

  it("announces once to who subscribed twice, and stops at the first unsubscribing (S3-9, LEG-11)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    await line.result("resources/subscribe", { uri: notes });
    await line.result("resources/subscribe", { uri: notes });
    await line.result("resources/subscribe", { uri: other });
    await line.result("resources/subscribe", { uri: marker });
    pressmark.memory.set("notes.txt", "one\n");
    expect(await line.unasked.next()).toEqual(updated(notes));
    await line.result("resources/unsubscribe", { uri: notes });
    pressmark.memory.set("notes.txt", "two\n");
    pressmark.memory.set("other.txt", "three\n");
    expect(await line.unasked.next()).toEqual(updated(other));
    pressmark.memory.set("empty.txt", "four\n");
    expect(await line.unasked.next()).toEqual(updated(marker));
  });

  it("refuses what is not there and what is no URI (S3-8, LEG-6, LEG-7)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const uri = `${base}nothing.txt`;
    expect(await line.error("resources/subscribe", { uri })).toMatchObject({ code: missingCode(line), data: { uri } });
    expect((await line.error("resources/subscribe", {})).code).toBe(-32602);
    expect((await line.error("resources/subscribe", { uri: 7 })).code).toBe(-32602);
  });

  it("says that the list changed without being asked (S3-10, LEG-2)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    await line.result("resources/list");
    pressmark.memory.set("zebra.txt", "Stripes.\n");
    expect(await line.unasked.next()).toEqual({ jsonrpc: "2.0", method: "notifications/resources/list_changed" });
  });
});

describe.concurrent.for(modernLegs)("subscriptions/listen over $transport", (leg) => {
  it.for([7, "seven", "7", 0])(
    "is acknowledged first, under the id %o as it was sent (MOD-32, MOD-34, MOD-39)",
    async (id) => {
      await using pressmark = await openTestServer({ sampleContents });
      const line = await pressmark.line(leg);
      const { asked, acknowledged } = await begin(
        line,
        { resourceSubscriptions: [notes], resourcesListChanged: true },
        id,
      );
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      expect(acknowledged).toEqual({
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { _meta, notifications: { resourceSubscriptions: [notes], resourcesListChanged: true } },
      });
      pressmark.memory.set("notes.txt", "Buy paper.\n");
      expect(await asked.said.next()).toEqual({
        jsonrpc: "2.0",
        method: "notifications/resources/updated",
        params: { _meta, uri: notes },
      });
      pressmark.memory.set("zebra.txt", "Stripes.\n");
      expect(await asked.said.next()).toEqual({
        jsonrpc: "2.0",
        method: "notifications/resources/list_changed",
        params: { _meta },
      });
    },
  );

  it("leaves out what it does not honour (MOD-33)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { acknowledged } = await begin(line, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: false,
      resourceSubscriptions: [`${base}nothing.txt`, notes, "nobody://here", notes],
      "example.com/unknown": true,
    });
    const { params } = acknowledged;
    expect(isRecord(params) && params["notifications"]).toEqual({ resourceSubscriptions: [notes] });
  });

  it("may honour nothing, and says so (MOD-33)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { acknowledged } = await begin(line, {});
    const { params } = acknowledged;
    expect(isRecord(params) && params["notifications"]).toEqual({});
  });

  it("sends no kind that was not asked for (MOD-31, MOD-38)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { asked } = await begin(line, { resourceSubscriptions: [notes, marker] });
    pressmark.memory.set("zebra.txt", "Stripes.\n");
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    expect(await asked.said.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: notes },
    });
    pressmark.memory.set("empty.txt", "later\n");
    expect(await asked.said.next()).toMatchObject({
      method: "notifications/resources/updated",
      params: { uri: marker },
    });
    const list = await begin(line, { resourcesListChanged: true }, 8);
    pressmark.memory.set("notes.txt", "Buy glue.\n");
    pressmark.memory.set("zebra2.txt", "More stripes.\n");
    expect(await list.asked.said.next()).toMatchObject({ method: "notifications/resources/list_changed" });
  });

  it("can be held several times at once, each with its own id (MOD-34)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const one = await begin(line, { resourceSubscriptions: [notes] }, "one");
    const two = await begin(line, { resourceSubscriptions: [notes, other] }, "two");
    pressmark.memory.set("notes.txt", "Buy paper.\n");
    for (const [{ asked }, id] of [
      [one, "one"],
      [two, "two"],
    ] as const)
      expect(await asked.said.next()).toMatchObject({
        params: { uri: notes, _meta: { "io.modelcontextprotocol/subscriptionId": id } },
      });
  });

  it("ends with a result when the server closes (MOD-36)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    const { asked } = await begin(line, { resourceSubscriptions: [notes] }, "last");
    await pressmark.edge.close();
    expect(await settled(asked)).toMatchObject({
      id: "last",
      result: { resultType: "complete", _meta: { "io.modelcontextprotocol/subscriptionId": "last" } },
    });
  });

  it("refuses a filter that is none (MOD-39)", async () => {
    await using pressmark = await openTestServer({ sampleContents });
    const line = await pressmark.line(leg);
    for (const params of [
      {},
      { notifications: [] },
      { notifications: { resourceSubscriptions: notes } },
      { notifications: { resourceSubscriptions: [7] } },
      { notifications: { resourcesListChanged: "yes" } },
    ])
      expect((await line.error("subscriptions/listen", params as JsonRecord)).code, JSON.stringify(params)).toBe(
        -32602,
      );
  });
});

function updated(uri: string): JsonRecord {
  return { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } };
}

async function begin(line: Line, notifications: JsonRecord, id: string | number = 7) {
  const asked = await line.start("subscriptions/listen", { notifications }, { id });
  return { asked, acknowledged: await asked.said.next() };
}
