import { expect, it } from "vitest";
import { formatTraceparent, parseTraceparent } from "./trace-context.ts";

const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];

it("reads what it writes", () => {
  const text = `00-${trace}-${span}-01`;
  expect(parseTraceparent(text)).toEqual({ traceId: trace, spanId: span, flags: 1 });
  expect(formatTraceparent(parseTraceparent(text)!)).toBe(text);
});

it("reads later versions, and nothing that is not valid", () => {
  expect(parseTraceparent(`01-${trace}-${span}-03-more`)).toEqual({ traceId: trace, spanId: span, flags: 3 });
  for (const wrong of [
    undefined,
    "",
    `ff-${trace}-${span}-01`,
    `00-${trace}-${span}-01-more`,
    `00-${"0".repeat(32)}-${span}-01`,
    `00-${trace}-${"0".repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${span}-01`,
    `00-${trace}-${span}`,
    `01-${trace}-${span}-01-${"x".repeat(1000)}`,
  ])
    expect(parseTraceparent(wrong), wrong).toBeUndefined();
});
