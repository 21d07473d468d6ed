import { expect, it } from "vitest";
import type { Call } from "../resources.ts";
import type { Source } from "../source.ts";
import { annotate } from "./annotate.ts";

const call: Call = { caller: { id: "me" }, signal: new AbortController().signal };

it("gives priority and audience to every entry without its own, also to those that only the index lists", async () => {
  const entry = { path: "a", name: "a", annotations: { priority: 0.1 } };
  const page = async () => ({ items: [entry, { path: "b", name: "b" }] });
  const inner: Source = { list: page, children: page, listIndexed: page, indexes: () => true, read: async () => [] };
  const source = annotate({ priority: 0.9, audience: ["user"] })(inner, { name: "m" });
  const expected = [
    { path: "a", annotations: { priority: 0.1, audience: ["user"] } },
    { path: "b", annotations: { priority: 0.9, audience: ["user"] } },
  ];
  expect((await source.list({ limit: 9 }, call)).items).toMatchObject(expected);
  expect((await source.children!({ path: "" }, { limit: 9 }, call)).items).toMatchObject(expected);
  expect((await source.listIndexed!({ limit: 9 }, call)).items).toMatchObject(expected);
});
