import { expect, it } from "vitest";
import { createBytePool } from "./byte-pool.ts";
import { createEventLog } from "./event-log.ts";

function logOf(maxEvents: number, maxBytes: number, pool = createBytePool(1000)) {
  const dropped: string[] = [];
  const log = createEventLog<string>({ maxEvents, maxBytes }, pool, (stream) => dropped.push(stream));
  const append = (stream: string, number: number, text: string) => log.append({ stream, number, wire: [text] });
  const texts = (stream: string, number = 0) => log.after(stream, number).map(({ wire }) => wire.join(""));
  return { log, append, texts, dropped, pool };
}

it("gives the later events of one stream, and none of another", () => {
  const { append, texts } = logOf(10, 100);
  append("a", 1, "one");
  append("b", 1, "other");
  append("a", 2, "two");
  expect(texts("a")).toEqual(["one", "two"]);
  expect(texts("a", 1)).toEqual(["two"]);
  expect(texts("a", 2)).toEqual([]);
});

it("drops the oldest when there are too many, or too many bytes", () => {
  const { append, texts, dropped, pool } = logOf(3, 10);
  for (let number = 1; number <= 5; number++) append("a", number, "ab");
  expect(texts("a", 0)).toHaveLength(3);
  append("b", 1, "12345678");
  expect(texts("a")).toEqual(["ab"]);
  expect(dropped).toEqual(["a", "a", "a", "a"]);
  expect(pool.held).toBe(10);
});

it("does not keep one event that is larger than all may be together, and keeps the others", () => {
  const { append, texts, dropped } = logOf(3, 10);
  append("a", 1, "small");
  append("a", 2, "x".repeat(11));
  expect(texts("a")).toEqual(["small"]);
  expect(dropped).toEqual(["a"]);
});

it("shares its bytes with the logs of others, of which the largest gives up when they are used up", () => {
  const pool = createBytePool(20);
  const one = logOf(10, 20, pool);
  const two = logOf(10, 20, pool);
  for (const number of [1, 2, 3, 4]) one.append("a", number, "1234");
  two.append("b", 1, "1234");
  two.append("b", 2, "567");
  expect(one.texts("a")).toEqual(["1234", "1234", "1234"]);
  expect(two.texts("b")).toEqual(["1234", "567"]);
  one.append("a", 5, "12345678");
  expect(two.texts("b")).toEqual(["1234", "567"]);
  expect(one.texts("a")).toEqual(["1234", "12345678"]);
  one.log.clear();
  two.log.clear();
  expect(pool.held).toBe(0);
});
