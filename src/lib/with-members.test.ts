import { expect, it } from "vitest";
import { withMembers } from "./with-members.ts";

it("replaces members, and keeps getters and enumerability", () => {
  let count = 0;
  const original = {
    get count() {
      return count;
    },
    name: "first",
    say: () => "hello",
  };
  const copy = withMembers(original, { name: "second" });
  count = 2;
  expect(copy).toEqual({ count: 2, name: "second", say: original.say });
  expect({ ...copy }.say()).toBe("hello");
  expect(original.name).toBe("first");
});
