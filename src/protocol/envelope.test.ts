import { describe, expect, it } from "vitest";
import { claimsModern, openEnvelope } from "./envelope.ts";

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const headers = { version: "2026-07-28", method: "resources/read", name: "test://a" };
const params = { uri: "test://a", _meta: meta };
const codeOf = (open: () => unknown): [number, number] => {
  try {
    open();
  } catch (error) {
    return [(error as { code: number }).code, (error as { status: number }).status];
  }
  throw new Error("nothing was thrown");
};

describe("the envelope of a modern request", () => {
  it("is recognised by its version in _meta, even with a method of older revisions", () => {
    expect(claimsModern({ method: "initialize", params: { _meta: meta } }, undefined)).toBe(true);
    expect(claimsModern({ method: "initialize", params: {} }, undefined)).toBe(false);
  });

  it("is missed, not absent, where the method or the header is of the modern era", () => {
    expect(claimsModern({ method: "server/discover" }, undefined)).toBe(true);
    expect(claimsModern({ method: "resources/list" }, "2026-07-28")).toBe(true);
    expect(claimsModern({ method: "resources/list" }, "2025-11-25")).toBe(false);
    expect(codeOf(() => openEnvelope("resources/list", {}, headers))).toEqual([-32602, 400]);
  });

  it("names the version and the client's capabilities", () => {
    expect(openEnvelope("resources/read", params, headers).revision.date).toBe("2026-07-28");
    const { "io.modelcontextprotocol/clientCapabilities": _, ...without } = meta;
    expect(codeOf(() => openEnvelope("resources/read", { ...params, _meta: without }, headers))).toEqual([-32602, 400]);
  });

  it("with a version that is not served names those that are", () => {
    const old = { ...meta, "io.modelcontextprotocol/protocolVersion": "1900-01-01" };
    expect(() => openEnvelope("resources/list", { _meta: old }, undefined)).toThrow(
      expect.objectContaining({
        code: -32022,
        data: { supported: expect.arrayContaining(["2026-07-28"]), requested: "1900-01-01" },
      }),
    );
  });

  it.each([
    ["another version", { ...headers, version: "2025-11-25" }],
    ["no version", { ...headers, version: undefined }],
    ["another method", { ...headers, method: "resources/list" }],
    ["a method in another case", { ...headers, method: "Resources/Read" }],
    ["no method", { ...headers, method: undefined }],
    ["another name", { ...headers, name: "test://b" }],
    ["no name", { ...headers, name: undefined }],
    ["a name that is no base64", { ...headers, name: "=?base64?***?=" }],
  ])("refuses headers with %s", (_what, wrong) => {
    expect(codeOf(() => openEnvelope("resources/read", params, wrong))).toEqual([-32020, 400]);
  });

  it("decodes a name that looks like base64 between its marks, always (MOD-63)", () => {
    const name = `=?base64?${Buffer.from("other").toString("base64")}?=`;
    const wrong = { ...headers, method: "tools/call", name };
    expect(codeOf(() => openEnvelope("tools/call", { name, _meta: meta }, wrong))).toEqual([-32020, 400]);
    const right = { ...wrong, name: `=?base64?${Buffer.from(name).toString("base64")}?=` };
    expect(openEnvelope("tools/call", { name, _meta: meta }, right).revision.date).toBe("2026-07-28");
  });

  it("takes a name that no header can carry as base64 of its UTF-8", () => {
    const uri = "test://日本語";
    const name = `=?base64?${Buffer.from(uri).toString("base64")}?=`;
    expect(openEnvelope("resources/read", { uri, _meta: meta }, { ...headers, name }).revision.date).toBe("2026-07-28");
  });
});
