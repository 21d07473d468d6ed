/** How long an answer may be kept, and for whom: said since 2026-07-28, and never before. */
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../wire/json.ts";
import { pagesOf } from "./answers.ts";
import { greeting, sampleContents } from "./fixtures.ts";
import { base, legs, modernLegs, openTestServer } from "./harness.ts";

const cacheable: readonly (readonly [method: string, params: JsonRecord])[] = [
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["resources/read", { uri: `${base}notes.txt` }],
  ["resources/read", { uri: `${base}docs` }],
];

describe.for(legs)("cache hints over $transport in $revision", (leg) => {
  it.for(cacheable)("stand on %s if and only if the revision has them (MOD-40)", async ([method, params]) => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    const result = await line.result(method, params);
    expect("ttlMs" in result).toBe(line.modern);
    expect("cacheScope" in result).toBe(line.modern);
    if (!line.modern) return;
    expect(Number.isInteger(result["ttlMs"]) && Number(result["ttlMs"]) >= 0).toBe(true);
    expect(["public", "private"]).toContain(result["cacheScope"]);
  });
});

describe.for(modernLegs)("cache hints over $transport", (leg) => {
  it("stand on discovery, and not on what cannot be cached (MOD-15, MOD-40)", async () => {
    await using pressmark = await openTestServer({ sampleContents, templates: [greeting] });
    const line = await pressmark.line(leg);
    expect(line.opened).toMatchObject({ ttlMs: expect.any(Number), cacheScope: expect.any(String) });
    const completion = await line.result("completion/complete", {
      ref: { type: "ref/resource", uri: `${base}greetings/{name}` },
      argument: { name: "name", value: "" },
    });
    expect("ttlMs" in completion).toBe(false);
    expect("cacheScope" in completion).toBe(false);
  });

  it("have one scope on all pages of a list (MOD-41)", async () => {
    await using pressmark = await openTestServer({ sampleContents, pageSize: 2 });
    const line = await pressmark.line(leg);
    const pages = await pagesOf(line, "resources/list");
    expect(pages.length).toBeGreaterThan(2);
    expect(new Set(pages.map(({ cacheScope }) => cacheScope)).size).toBe(1);
  });
});
