import { expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { createLogRedaction } from "./log-redaction.ts";

it("a mount that stays keeps its secrets out of the log, whatever was edited since", () => {
  const { runtime, logged } = createClock();
  const redaction = createLogRedaction(runtime);
  const forgets = ["first-secret", "second-secret", "third-secret"].map((secret) =>
    redaction.keep({ redact: (text) => text.replaceAll(secret, "••••") }),
  );
  redaction.runtime.log("warn", "first-secret second-secret third-secret");
  forgets[2]!();
  redaction.runtime.log("warn", "first-secret third-secret");
  expect(logged.map(({ message }) => message)).toEqual(["•••• •••• ••••", "•••• third-secret"]);
});

it("any value can be logged", () => {
  const { runtime, logged } = createClock();
  createLogRedaction(runtime).runtime.log("warn", "x", {
    a: new Proxy({}, { getPrototypeOf: fails, get: fails }),
    b: 10n,
  });
  expect(logged).toMatchObject([{ facts: { a: "a value that cannot be shown", b: 10n } }]);
});

function fails(): never {
  throw new Error("this member fails");
}
