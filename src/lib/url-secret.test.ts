import { describe, expect, it } from "vitest";
import { mayHoldSecret } from "./url-secret.ts";

describe("an address", () => {
  it.each([
    "https://mcp.example/mcp",
    "http://127.0.0.1:7357/mcp",
    "https://mcp.example/v1/some-long-name-without-numbers/mcp",
    "http://[::1]:9090/",
  ])("contains no secret: %s", (url) => expect(mayHoldSecret(url)).toBe(false));

  it.each([
    "https://user@mcp.example/mcp",
    "https://:password@mcp.example/mcp",
    "https://mcp.example/mcp?key=k",
    "https://mcp.example/mcp#k",
    "https://mcp.example/s/MTIzNDU2Nzg5MGFiY2RlZg/mcp",
    "https://mcp.example/0b6a3c1e-8d0f-4f5e-9a3e-1d2c3b4a5f6e",
    "no address",
  ])("may contain one: %s", (url) => expect(mayHoldSecret(url)).toBe(true));
});
