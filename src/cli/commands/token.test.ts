import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createOAuthStore } from "../../auth/builtin/oauth-store.ts";
import { isPassword } from "../../auth/builtin/password.ts";
import { createStand, type Stand } from "../test-command.ts";

const config = "mounts:\n  docs: { source: file, root: . }\ncallers:\n  aki: { groups: [support] }\n  bot: {}\n";
let stand: Stand;

beforeEach(() => {
  stand = createStand();
  stand.write("team.yaml", config);
});

afterEach(() => stand.remove());

const run = (...words: string[]) => stand.run(["token", ...words, "--config", "team.yaml"]);

it("prints a token once, and lists it without its value", async () => {
  const { code, out, err } = await run("create", "aki", "--expires", "12h");
  expect(code).toBe(0);
  expect(out).toMatch(/^pmk_[A-Za-z0-9_-]{43}\n$/);
  expect(err).toMatch(/^pressmark: token [0-9a-f]{12} for aki, expires \d{4}-\d\d-\d\d; it is not shown again\n$/);
  const listed = await run("list");
  expect(listed.out).toMatch(/^[0-9a-f]{12} {2}aki {2}since \d{4}-\d\d-\d\d, expires \d{4}-\d\d-\d\d\n$/);
  expect(listed.out + listed.err).not.toContain(out.trim().slice(4));
});

it("prints JSON", async () => {
  const created = JSON.parse((await run("create", "bot", "--expires", "never", "--json")).out) as object;
  expect(created).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{12}$/),
    caller: "bot",
    created: expect.any(Number),
    token: expect.stringMatching(/^pmk_/),
  });
  expect(JSON.parse((await run("--json")).out)).toEqual({ ...created, token: undefined });
});

it("revokes all tokens of a caller, or one by its id", async () => {
  const ids = [];
  for (const name of ["aki", "aki", "bot"])
    ids.push((JSON.parse((await run("create", name, "--json")).out) as { id: string }).id);
  expect((await run("revoke", ids[2]!)).out).toBe(`revoked ${ids[2]} of bot\n`);
  expect((await run("revoke", "aki")).out).toBe(`revoked ${ids[0]} of aki\nrevoked ${ids[1]} of aki\n`);
  expect(await run("list")).toMatchObject({ out: "", err: expect.stringContaining("there are no tokens") });
  expect(await run("revoke", "aki")).toMatchObject({ code: 3, out: "" });
});

it("says which caller was meant", async () => {
  expect((await run("create", "aky")).err).toContain('the config has no caller "aky"; did you mean "aki"?');
});

it.each([
  ["create"],
  ["revoke"],
  ["list", "aki"],
  ["make", "aki"],
  ["create", "aki", "--expires", "soon"],
  ["create", "aki", "--expires", "11y"],
])("refuses %j %j", async (...words) => {
  expect(await run(...words)).toMatchObject({ code: 2, out: "" });
});

it("needs a config", async () => {
  expect((await stand.run(["token", "list"])).err).toContain("no config here or above");
});

it("of a config that was found needs trust first", async () => {
  stand.write("pressmark.config.yaml", config);
  expect((await stand.run(["token", "create", "aki"])).err).toContain("pressmark trust");
});

const stored = () =>
  createOAuthStore(join(stand.folder, "..", "state", "pressmark"), join(stand.folder, "team.yaml"), Date.now);

it("stores the hash of a password that is read from standard input", { timeout: 60_000 }, async () => {
  const ran = await stand.run(["token", "password", "aki", "--config", "team.yaml"], { input: "correct horse\n" });
  expect(ran).toMatchObject({ code: 0, out: "", err: expect.stringContaining("aki can sign in with this password") });
  expect(await isPassword("correct horse", stored().read().passwords["aki"])).toBe(true);
  const short = await stand.run(["token", "password", "owner", "--config", "team.yaml"], { input: "short" });
  expect(short).toMatchObject({ code: 2, err: expect.stringContaining("at least 10 characters") });
  expect((await run("password", "nobody")).err).toContain('the config has no caller "nobody"');
  expect((await run("revoke", "aki")).out).toBe("revoked password of aki\n");
  expect(stored().read().passwords).toEqual({});
});

it("lists and revokes the clients that callers have connected", async () => {
  const times = { created: Date.UTC(2026, 0, 1), expires: Date.UTC(2099, 0, 1) };
  await stored().change((state) => {
    state.clients["one"] = { metadata: { client_name: "Chat\u001b" }, created: times.created, used: Date.now() };
    state.grants = {
      a: { id: "aaaaaaaaaaaa", account: "aki", client: "one", payload: {}, ...times },
      b: { id: "bbbbbbbbbbbb", account: "owner", client: "https://app.example/client.json", payload: {}, ...times },
    };
  });
  expect((await run("list")).out).toBe(
    `aaaaaaaaaaaa  aki    since 2026-01-01, expires 2099-01-01, client Chat\\x1b
bbbbbbbbbbbb  owner  since 2026-01-01, expires 2099-01-01, client https://app.example/client.json
`,
  );
  expect((await run("revoke", "bbbbbbbbbbbb")).out).toBe("revoked bbbbbbbbbbbb of owner\n");
  expect((await run("revoke", "aki")).out).toBe("revoked aaaaaaaaaaaa of aki\n");
  expect(stored().read().grants).toEqual({});
});
