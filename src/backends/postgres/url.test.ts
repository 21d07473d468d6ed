import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../../errors.ts";
import definition from "../../sources/postgres.ts";

describe("a url", () => {
  it.each([
    ["postgres://u:p@db.example/shop", "postgres://db.example/shop/"],
    ["postgresql://u:p%40%2F@db.example:6543/my%20shop?sslmode=require", "postgres://db.example:6543/my%20shop/"],
    ["postgres:///shop?host=/run/postgresql", "postgres://localhost/shop/"],
    ["postgres://u:p@/shop?host=/run/postgresql&port=6543", "postgres://localhost:6543/shop/"],
    ["postgres://[::1]:5432/shop", "postgres://[::1]/shop/"],
  ])("gives the address of the mount, and no more: %s", (url, base) => {
    expect(definition.base?.(definition.options(z).parse({ url }))).toBe(base);
  });

  it.each([
    "nonsense planted",
    "mysql://planted@h/db",
    "postgres://planted@h",
    "postgres://planted@h:99999/db",
    "postgres://pl%anted@h/db",
    "postgres://h/db?host=planted,other",
    "postgres://h/db?sslrootcert=planted.pem",
  ])("that is invalid is rejected without being repeated", (url) => {
    const refused = () => definition.base?.(definition.options(z).parse({ url }));
    expect(refused).toThrow(ResourceError);
    expect(refused).not.toThrow(/planted|pl%/);
  });
});
