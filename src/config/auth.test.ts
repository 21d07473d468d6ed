import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { resourceOf } from "./auth.ts";
import { loadConfig } from "./load-config.ts";
import { ConfigError } from "./problem.ts";

const folders: string[] = [];
const issuer = "https://idp.example.com/realms/team";
const publicUrl = "https://mcp.example.com";

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Loads a config with these settings of the server. */
async function load(server: Readonly<Record<string, unknown>>, named = true) {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-auth-"));
  folders.push(folder);
  const file = join(folder, "pressmark.config.json");
  writeFileSync(
    file,
    JSON.stringify({ mounts: { docs: { source: "file", root: "." } }, callers: { aki: {}, ben: {} }, server }),
  );
  const env = { SECRET: "abc-secret" };
  const loaded = await loadConfig({ file, named }, { from: folder, env, stateFolder: join(folder, "state") });
  if ("untrusted" in loaded) throw new Error("needs trust as a whole");
  return loaded.config;
}

async function problemsOf(server: Readonly<Record<string, unknown>>): Promise<string> {
  const cause = await load(server).catch((error: unknown) => error);
  if (!(cause instanceof ConfigError)) throw new Error("the config has no problem");
  return cause.lines.join("\n");
}

describe("server.auth", () => {
  it("lists issuers, and their secrets are not shown", async () => {
    const introspection = { url: `${issuer}/introspect`, clientId: "pressmark", clientSecret: "${env:SECRET}" };
    const auth = [{ issuer, audience: ["api://x", "y"], introspection, callers: { aki: "8f14" } }];
    const { server, shown } = await load({ publicUrl, auth, scopes: { read: ["mcp:read"] } });
    expect(server.auth).toEqual([{ ...auth[0], introspection: { ...introspection, clientSecret: "abc-secret" } }]);
    expect(JSON.stringify(shown)).not.toContain("abc-secret");
    const literal = await load({
      publicUrl,
      auth: [{ issuer, introspection: { ...introspection, clientSecret: "q" } }],
    });
    expect(JSON.stringify(literal.shown)).toContain('"clientSecret":"••••"');
  });

  it("may be builtin", async () => {
    expect((await load({ publicUrl, auth: "builtin" })).server.auth).toBe("builtin");
  });

  it.each([
    [{ auth: [{ issuer }] }, "needs server.publicUrl"],
    [{ auth: "builtin" }, "needs server.publicUrl"],
    [{ publicUrl, auth: "bultin" }, "server.auth"],
    [{ publicUrl, auth: [] }, "must not be empty"],
    [{ publicUrl, auth: [{ issuer }, { issuer }] }, "is listed twice"],
    [{ publicUrl, auth: [{ issuer: "idp.example.com" }] }, "must be a URL"],
    [{ publicUrl, auth: [{ issuer: "ftp://idp.example.com" }] }, "must be a URL"],
    [{ publicUrl, auth: [{ issuer: "https://u:p@idp.example.com" }] }, "must not contain credentials"],
    [{ publicUrl, auth: [{ issuer: `${issuer}#x` }] }, "must not contain credentials or a fragment"],
    [{ publicUrl, auth: [{ issuer: `${issuer}?x=1` }] }, "must not contain a query"],
    [{ publicUrl, auth: [{ issuer, algorithms: ["HS256"] }] }, 'did you mean "RS256"?'],
    [{ publicUrl, auth: [{ issuer, algorithms: ["none"] }] }, "must be one of"],
    [{ publicUrl, auth: [{ issuer, callers: { zoe: "1" } }] }, 'there is no caller "zoe"'],
    [{ publicUrl, auth: [{ issuer, callers: { aki: "1", ben: "1" } }] }, "belongs to two callers"],
    [{ publicUrl: "https://mcp.example.com/mcp" }, "without /mcp"],
    [{ publicUrl: "mcp.example.com" }, "must be a URL"],
    [{ scopes: { read: ["a b"] } }, "must be a scope"],
    [{ scopes: { read: ["offline_access"] } }, "must not be offline_access"],
    [{ scopes: { includes: { admin: ['"'] } } }, "must be a scope"],
  ])("with a problem stops the config: %j", async (server, message) => {
    expect(await problemsOf(server)).toContain(message);
  });

  it("of a config that was found needs trust, and is left out until then", async () => {
    const { server, withheld } = await load({ publicUrl, auth: [{ issuer }], scopes: { read: ["a"] } }, false);
    expect(server).toEqual({});
    expect(withheld.find(({ part }) => part === "server")).toMatchObject({
      settings: ["publicUrl", "auth", "scopes"],
      reasons: [
        'answers to the name "mcp.example.com"',
        `lets everyone sign in to whom "${issuer}" issues a token`,
        "decides which scopes callers need",
      ],
    });
  });
});

it.each([
  ["https://mcp.example.com", "https://mcp.example.com/mcp"],
  ["https://MCP.example.com:443/", "https://mcp.example.com/mcp"],
  ["https://example.com/team//", "https://example.com/team/mcp"],
  ["http://127.0.0.1:7357", "http://127.0.0.1:7357/mcp"],
])("tokens for %s are issued for %s", (url, resource) => {
  expect(resourceOf(url)).toBe(resource);
});
