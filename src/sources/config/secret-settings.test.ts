import { describe, expect, it } from "vitest";
import { parse } from "./formats.ts";
import { secretSettings } from "./secret-settings.ts";

async function secretsOf(yaml: string): Promise<readonly string[]> {
  return secretSettings(await parse(yaml, "yaml")).map(({ name, line }) => `${name}:${line}`);
}

describe("a setting", () => {
  it.each([
    "password: sunshine road",
    "db: { passwd: 'Tr0ub4dor&3' }",
    "api_key: 4eC39HqLyjWDarjtT1zdp7dc",
    "auth_token: abcdefgh12345678",
    "client_secret: 7Fjfp0ZBr1KtDRbnfVdmIw",
    "database: postgres://app:Tr0ub4dor3xyz@db.internal/app",
    "anything: sk_live_4eC39HqLyjWDarjtT1zdp7dc",
  ])("is a secret: %s", async (yaml) => expect(await secretsOf(yaml)).toHaveLength(1));

  it.each([
    "port: 8080",
    "max_tokens: 4096",
    "session_timeout: 3600",
    "auth: oauth2",
    "token_type: bearer",
    "password: changeme",
    "password: ${DB_PASSWORD}",
    "password: ''",
    "secret_name: my-app",
    "title: A project with a long name",
    "url: https://example.org/path",
  ])("is not a secret: %s", async (yaml) => expect(await secretsOf(yaml)).toEqual([]));

  it("is named with its line, also in a list", async () => {
    expect(await secretsOf("users:\n  - name: ada\n    password: sunshine road\n")).toEqual(["users[0].password:3"]);
  });
});
