import { describe, expect, it } from "vitest";
import { createGuard } from "./guard.ts";

describe("the host guard", () => {
  const guard = createGuard({ hosts: ["MCP.example", "ported.example:8443"] });

  it.each([
    "localhost",
    "localhost:",
    "LOCALHOST:3000",
    "127.0.0.1:80",
    "[::1]",
    "[::1]:9",
    "mcp.example",
    "mcp.example:1",
    "ported.example:8443",
  ])("%s is a name of ours", (host) => expect(guard({ host })).toBeUndefined());

  it.each([
    undefined,
    "",
    "evil.example",
    "localhost.evil.example",
    "evil.example:3000",
    "localhost:80@evil.example",
    "localhost:8x",
    "localhost:80@e",
    "localhost:999999",
    "ported.example",
    "[::1",
    "[::1]x",
    "::1",
    "127.0.0.1.evil.example",
    "*",
  ])("%s is not", (host) => {
    expect(guard({ host })).toContain("is not allowed");
  });

  it('allows any name with "*"', () => {
    expect(createGuard({ hosts: ["*"] })({ host: "anything.example" })).toBeUndefined();
  });

  it("never repeats a long name", () => {
    expect(guard({ host: "x".repeat(5000) })?.length).toBeLessThan(300);
  });
});

describe("the origin guard", () => {
  const guard = createGuard({ hosts: ["mcp.example"], origins: ["https://app.example"] });
  const from = (origin: string, host = "localhost:3000") => guard({ host, origin });

  it.each([
    "http://localhost",
    "https://localhost:5173",
    "http://127.0.0.1:8080",
    "http://[::1]:1",
    "https://app.example",
    "HTTPS://App.Example",
  ])("pages of %s may ask", (origin) => expect(from(origin)).toBeUndefined());

  it.each([
    "null",
    "https://evil.example",
    "http://app.example",
    "http://localhost.evil.example",
    "http://localhost@evil.example",
    "file://",
    "localhost",
    "chrome-extension://localhost",
    "",
  ])("pages of %s may not", (origin) => expect(from(origin)).toContain("is not allowed"));

  it('are never "*" or "null", even if someone wrote that', () => {
    const open = createGuard({ origins: ["*", "null"] });
    for (const origin of ["*", "null"]) expect(open({ host: "localhost", origin })).toContain("is not allowed");
  });

  it("our own pages may send requests, under an allowed name", () => {
    expect(from("https://mcp.example", "mcp.example")).toBeUndefined();
    expect(from("https://mcp.example", "localhost")).toContain("is not allowed");
  });

  it("a stranger's name that was made to point here proves nothing, even when any host is allowed", () => {
    const open = createGuard({ hosts: ["*"] });
    expect(open({ host: "evil.example", origin: "http://evil.example" })).toContain("is not allowed");
  });
});

describe("the guard against pages of other sites", () => {
  const guard = createGuard({ origins: ["https://app.example"] });
  const host = "localhost";
  const link = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

  it.each(["same-origin", "none", undefined])("lets in what comes from %s", (site) => {
    expect(guard({ host, ...(site !== undefined && { "sec-fetch-site": site }) })).toBeUndefined();
  });

  it.each(["cross-site", "same-site", "", "Same-Origin", "none, none"])("refuses what comes from %j", (site) => {
    expect(guard({ host, "sec-fetch-site": site })).toContain("other sites");
    expect(guard({ host, "sec-fetch-site": site, ...link })).toContain("other sites");
  });

  it("lets a person follow a link to a page that may be linked to, and nothing else load it", () => {
    const from = { host, "sec-fetch-site": "cross-site" };
    expect(guard({ ...from, ...link }, true)).toBeUndefined();
    expect(guard(from, true)).toContain("other sites");
    expect(guard({ ...from, ...link, "sec-fetch-dest": "iframe" }, true)).toContain("other sites");
  });

  it("checks the origin of a request that has one", () => {
    const from = { host, "sec-fetch-site": "cross-site" };
    expect(guard({ ...from, origin: "https://app.example" })).toBeUndefined();
    expect(guard({ ...from, origin: "https://evil.example" })).toContain("is not allowed");
  });
});
