import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findToken } from "./find-token.ts";
import { startHttp } from "./start-http.ts";

const good = "a-token-of-good-length";
let from: string;

beforeAll(() => {
  from = mkdtempSync(join(tmpdir(), "pressmark-find-token-"));
  writeFileSync(join(from, "token"), `${good}\n`);
  mkdirSync(join(from, "folder"));
});

afterAll(() => rmSync(from, { recursive: true, force: true }));

describe("the token", () => {
  it("comes from the file, else from the environment, else from the config", async () => {
    const env = { PRESSMARK_TOKEN: "of-the-environment" };
    const configured = "of-the-configuration";
    expect(await findToken({ file: "token", from, env, configured })).toBe(good);
    expect(await findToken({ from, env, configured })).toBe("of-the-environment");
    expect(await findToken({ from, env: { PRESSMARK_TOKEN: "" }, configured })).toBe(configured);
    expect(await findToken({ from, env: {} })).toBeUndefined();
  });

  it("that could be guessed, or that no header could carry, is refused without being repeated", async () => {
    for (const configured of [
      "hunter2",
      "x".repeat(1025),
      "seventeen letters",
      "日本語日本語日本語日本語",
      `${good}\nX: y`,
      "",
    ])
      await expect(findToken({ from, env: {}, configured })).rejects.toMatchObject({
        kind: "invalid",
        message: expect.not.stringContaining(configured || "\0") as string,
      });
  });

  it("in a file that cannot be read gives an error with the file's name", async () => {
    for (const file of ["nowhere", "folder", "token/below"])
      await expect(findToken({ file, from, env: {} })).rejects.toThrow(JSON.stringify(file));
  });

  it("that a config asks for and may not read leaves nothing open", async () => {
    const secret = mkdtempSync(join(tmpdir(), "pressmark-find-token-secret-"));
    writeFileSync(join(secret, "token"), good);
    writeFileSync(join(from, "pressmark.config.yaml"), `server: { token: "\${file:${join(secret, "token")}}" }\n`);
    const env = { XDG_STATE_HOME: join(from, ".state"), XDG_CACHE_HOME: join(from, ".cache"), HOME: from };
    const options = { folders: [], from, env, err: { write: () => true }, allowedHosts: [], version: "1", port: 0 };
    try {
      await expect(startHttp(options)).rejects.toMatchObject({ kind: "denied" });
      const server = await startHttp({ ...options, config: "pressmark.config.yaml" });
      const statuses = await Promise.all(
        [good, "another-token-of-good-length"].map(async (token) => {
          const headers = { Authorization: `Bearer ${token}` };
          return (await fetch(new URL("/nowhere", server.url), { headers })).status;
        }),
      );
      await server.close();
      expect(statuses).toEqual([404, 401]);
    } finally {
      rmSync(secret, { recursive: true, force: true });
    }
  });
});
