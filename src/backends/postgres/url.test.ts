import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ResourceError } from "../../errors.ts";
import definition from "../../sources/postgres.ts";
import { parseUrl } from "./url.ts";

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

  it("with ssl=true demands TLS", () => {
    expect(parseUrl("postgres://u@h/db?ssl=true").sslmode).toBe("require");
    expect(parseUrl("postgres://u@h/db").sslmode).toBe("disable");
  });

  it.each([
    "ssl=1",
    "ssl=false",
    "SSL=true",
    "SSLMODE=require",
    "sslmode=REQUIRE",
    "ssl=true&sslmode=disable",
    "sslmode=require&sslmode=disable",
    "requiressl=1",
    "sslcert=client.pem",
    "ssl_min_protocol_version=TLSv1.3",
    "channel_binding=require",
    "gssencmode=require",
  ])("with %s is refused, with what to write", (query) => {
    expect(() => parseUrl(`postgres://u@h/db?${query}`)).toThrow(/write sslmode|sslmode in "url" must be/);
  });

  it.each(["channel_binding=prefer", "gssencmode=disable"])("may have %s, which asks for nothing", (query) => {
    expect(parseUrl(`postgres://u@h/db?sslmode=require&${query}`).sslmode).toBe("require");
  });

  it.each([
    "nonsense planted",
    "mysql://planted@h/db",
    "postgres://planted@h",
    "postgres://planted@h:99999/db",
    "postgres://pl%anted@h/db",
    "postgres://h/db?host=planted,other",
    "postgres://h/db?sslrootcert=planted.pem",
    "postgres://user:1/a?sslmode=planted@h/db",
    "postgres://user:1/a?sslplanted@h/db",
  ])("that is invalid is rejected without being repeated", (url) => {
    const refused = () => definition.base?.(definition.options(z).parse({ url }));
    expect(refused).toThrow(ResourceError);
    expect(refused).not.toThrow(/planted|pl%/);
  });
});
