import { describe, expect, it } from "vitest";
import { unavailable } from "../errors.ts";
import { discover } from "./discover.ts";

const { signal } = new AbortController();

/** Finds these documents, and nothing else. */
function finding(documents: Readonly<Record<string, object>>) {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url);
    const found = documents[url];
    return found ? Response.json(found) : new Response("nothing", { status: 404 });
  };
  return { asked, fetch };
}

describe("the metadata of an issuer", () => {
  it.each([
    ["https://idp.example", "https://idp.example/.well-known/openid-configuration"],
    ["https://idp.example/", "https://idp.example/.well-known/openid-configuration"],
    ["https://idp.example/realms/a", "https://idp.example/realms/a/.well-known/openid-configuration"],
    ["https://idp.example/a", "https://idp.example/.well-known/oauth-authorization-server/a"],
    ["http://localhost:9/a", "http://localhost:9/.well-known/oauth-authorization-server/a"],
  ])("of %s is found at %s", async (issuer, url) => {
    const { fetch } = finding({ [url]: { issuer, jwks_uri: "https://keys.example" } });
    expect(await discover(issuer, fetch, signal)).toMatchObject({ jwks_uri: "https://keys.example" });
  });

  it("is not used if it names another issuer, or is none", async () => {
    const issuer = "https://idp.example";
    for (const found of [{ issuer: "https://evil.example" }, {}, []]) {
      const { fetch, asked } = finding({ [`${issuer}/.well-known/openid-configuration`]: found });
      await expect(discover(issuer, fetch, signal)).rejects.toMatchObject({ kind: "unavailable" });
      expect(asked).toHaveLength(2);
    }
  });

  it("is not looked for elsewhere if the issuer cannot be reached", async () => {
    let asked = 0;
    const away = async (): Promise<Response> => {
      asked += 1;
      throw unavailable("away");
    };
    await expect(discover("https://idp.example", away, signal)).rejects.toThrow("away");
    expect(asked).toBe(1);
  });
});
