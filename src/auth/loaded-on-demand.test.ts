import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");

it("a server without server.auth loads neither jose nor oauth4webapi: they are imported on first use", () => {
  const loading = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) =>
      /^import (?!type )[^;]*from "(?:jose|oauth4webapi)";/m.test(readFileSync(join(root, file), "utf8")),
    );
  expect(loading).toEqual([]);
});
