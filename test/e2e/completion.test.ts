/** What may stand for a template's variable. */
import { describe, expect, it } from "vitest";
import { isRecord, type JsonRecord } from "../wire/json.ts";
import { crowd, greeting, sampleContents } from "./fixtures.ts";
import { base, legs, openTestServer } from "./harness.ts";
import type { Line } from "./line/line.ts";

async function complete(line: Line, template: string, name: string, value: string): Promise<JsonRecord> {
  const { completion } = await line.result("completion/complete", askFor(template, name, value));
  if (!isRecord(completion)) throw new Error("no completion");
  return completion;
}

function askFor(template: string, name: string, value: string): JsonRecord {
  return { ref: { type: "ref/resource", uri: base + template }, argument: { name, value } };
}

/** The early draft has no completion. */
const completingLegs = legs.filter(({ revision }) => revision >= "2024-11-05");

describe.for(completingLegs)("completion over $transport in $revision", (leg) => {
  it("gives the source's suggestions, best first (LEG-24, MOD-46)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    const completion = await complete(line, "greetings/{name}", "name", "a");
    expect(completion).toMatchObject({ values: ["ada", "alan"], total: 2, hasMore: false });
  });

  it("gives a hundred at most and says that there are more (LEG-24, MOD-46)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [crowd] });
    const line = await pressmark.line(leg);
    const { values, total, hasMore } = await complete(line, "crowd/{member}", "member", "m");
    expect(values).toHaveLength(100);
    expect(total).toBe(250);
    expect(hasMore).toBe(true);
  });

  it("has no suggestions for a variable that the template lacks (LEG-24)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    expect((await complete(line, "greetings/{name}", "nobody", "a"))["values"]).toEqual([]);
  });

  it("refuses an unknown template and a question without its parts (LEG-23, LEG-26, MOD-46)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    const { ref, argument } = askFor("greetings/{name}", "name", "a");
    const wrong: JsonRecord[] = [
      askFor("nowhere/{name}", "name", "a"),
      { argument: argument ?? {} },
      { ref: ref ?? {} },
      { ref: ref ?? {}, argument: { name: "name" } },
      { ref: ref ?? {}, argument: { name: 1, value: "a" } },
      { ref: { type: "ref/unknown", uri: base }, argument: argument ?? {} },
      { ref: { type: "ref/prompt", name: "nobody" }, argument: argument ?? {} },
    ];
    for (const params of wrong)
      expect((await line.error("completion/complete", params)).code, JSON.stringify(params)).toBe(-32602);
  });

  it("tells nobody of what they may not see (LEG-26, MOD-46)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [crowd] });
    const reader = await pressmark.line(leg);
    const owner = await pressmark.line(leg, "owner");
    expect(await complete(reader, "crowd/{member}", "member", "key")).toMatchObject({ values: ["keyless"], total: 1 });
    expect(await complete(owner, "crowd/{member}", "member", "key")).toMatchObject({ values: ["key.txt", "keyless"] });
  });
});
