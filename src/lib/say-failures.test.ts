import { expect, it } from "vitest";
import { sayFailures } from "./say-failures.ts";

it("names the mounts of each problem once", () => {
  const failures = [
    { mount: "docs", message: "the disk is full" },
    { mount: "notes", message: "the folder is gone" },
    { mount: 'a "b"\n', message: "the disk is full" },
  ];
  expect(sayFailures(failures)).toEqual(['"docs", "a \\"b\\"\\n": the disk is full', '"notes": the folder is gone']);
  expect(sayFailures([])).toEqual([]);
});
