/** The contract of the source. `node --test` runs it; vitest does, too. */
import { createRuntime } from "pressmark";
import { sourceContract } from "pressmark/testing";
import almanac from "./almanac.ts";

sourceContract("almanac", {
  abilities: [],
  content: { "01-01": "Thursday, January 1, 2026 / 2026年1月1日木曜日\n", "12-31": undefined },
  open: () => almanac.open({ year: 2026 }, createRuntime({ write: () => true })),
});
