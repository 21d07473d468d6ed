import { expect, it } from "vitest";
import { definedNames } from "./defined-names.ts";

it("names definitions in code without their container", () => {
  const text = "export class Pool {\n  close(): void {\n    stop();\n  }\n}\n\nfunction stop(): void {}\n";
  expect(definedNames(text, "braces")).toEqual(["Pool", "close", "stop"]);
});

it("names headings in prose", () => {
  expect(definedNames("# 設計\n\n本文\n\n## 決済\n\n本文\n", "markdown")).toEqual(["設計", "決済"]);
});
