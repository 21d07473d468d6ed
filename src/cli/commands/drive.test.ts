import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createRuntime } from "../../server/runtime.ts";
import { createDriveApi, type DriveApiOptions } from "../../sources/gdrive/drive-api.ts";
import { createDriveIdentity } from "../../sources/gdrive/identity.ts";
import { findLogin } from "../../sources/gdrive/stored-login.ts";
import { type FakeDrive, startFakeDrive } from "../../testing/fakes/gdrive.ts";
import { createStand, type Stand } from "../test-command.ts";

const { signal } = new AbortController();

let fake: FakeDrive;
let stand: Stand;
let folder: string;
let env: Record<string, string>;
beforeEach(async () => {
  fake = await startFakeDrive();
  fake.needsToken = true;
  stand = createStand();
  folder = mkdtempSync(join(tmpdir(), "pressmark-drive-"));
  env = { PATH: "", HOME: folder, XDG_STATE_HOME: join(folder, "state"), PRESSMARK_DRIVE_URL: fake.rootUrl };
  stand.write(
    "client.json",
    JSON.stringify({ installed: { client_id: "client-1", client_secret: "client-secret-1" } }),
  );
});
afterEach(async () => {
  stand.remove();
  rmSync(folder, { recursive: true, force: true });
  await fake.close();
});

/** Opens the page that the user is sent to. */
function browser() {
  let said = "";
  const answer = Promise.withResolvers<Response>();
  let isGone = false;
  return {
    answer: answer.promise,
    heard(text: string) {
      said += text;
      const url = /^http\S+$/m.exec(said)?.[0];
      if (url === undefined || isGone) return;
      isGone = true;
      answer.resolve(fetch(url));
    },
  };
}

async function login() {
  const { heard, answer } = browser();
  const ran = await stand.run(["drive", "login", "--client", "client.json", "--no-browser"], { env, heard });
  return { ...ran, page: await answer };
}

const apiOf = (more: Partial<DriveApiOptions> = {}) =>
  createDriveApi({
    rootUrl: fake.rootUrl,
    identity: createDriveIdentity({ keyFile: undefined, subject: undefined, login: () => findLogin(fake.owner, env) }),
    withPermissions: false,
    timeoutMs: 5000,
    patienceMs: 0,
    runtime: createRuntime({ write: () => true }),
    ...more,
  });

/** A fake keychain that works as `secret-tool`, and records its calls. */
function putKeychain(): { readonly calls: () => string; readonly held: () => string } {
  const bin = join(folder, "bin");
  const [held, calls] = [join(folder, "held.json"), join(folder, "calls")];
  mkdirSync(bin);
  writeFileSync(held, "{}");
  writeFileSync(calls, "");
  const program = `#!${process.execPath}
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const [action, ...given] = process.argv.slice(2);
appendFileSync(${JSON.stringify(calls)}, process.argv.slice(2).join(" ") + "\\n");
const held = JSON.parse(readFileSync(${JSON.stringify(held)}, "utf8"));
const key = given.filter((word) => !word.startsWith("--")).join(" ");
if (action === "store") held[key] = readFileSync(0, "utf8");
if (action === "clear") delete held[key];
if (action === "lookup" && held[key] === undefined) process.exit(1);
if (action === "lookup") process.stdout.write(held[key]);
writeFileSync(${JSON.stringify(held)}, JSON.stringify(held));
`;
  writeFileSync(join(bin, "secret-tool"), program);
  chmodSync(join(bin, "secret-tool"), 0o755);
  env["PATH"] = bin;
  return { calls: () => readFileSync(calls, "utf8"), held: () => readFileSync(held, "utf8") };
}

const filesIn = (path: string): string[] =>
  readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe("pressmark drive", () => {
  it("signs in through the browser, stores the token for its owner only, and prints no secret", async () => {
    const { code, out, err, page } = await login();
    expect([code, out]).toEqual([
      0,
      "owner@example.org is signed in; the token is stored in a file that only you can read\n",
    ]);
    expect([page.status, await page.text()]).toEqual([200, "Signed in. This window can be closed.\n"]);
    const asked = new URL(/^http\S+$/m.exec(err)![0]).searchParams;
    expect(asked.get("scope")).toBe("https://www.googleapis.com/auth/drive.readonly");
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    for (const file of filesIn(join(folder, "state"))) expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const secret of [...fake.accounts.secrets, "client-secret-1"]) expect(out + err).not.toContain(secret);

    expect((await stand.run(["drive", "status"], { env })).out).toBe("owner@example.org  file  works\n");
    expect(await apiOf().account(signal)).toEqual({ id: "id-of-owner@example.org", email: "owner@example.org" });
    const done = await stand.run(["drive", "logout"], { env });
    expect([done.code, done.out]).toEqual([0, "owner@example.org is signed out\n"]);
    const left = filesIn(join(folder, "state")).map((file) => readFileSync(file, "utf8"));
    expect(left).toEqual(["[]\n", ""]);
    expect((await stand.run(["drive", "status"], { env })).out).toBe("nobody is signed in to Drive here\n");
  });

  it.runIf(process.platform === "linux")(
    "keeps it in the system's keychain where there is one, and hands it over unseen",
    async () => {
      const keychain = putKeychain();
      const { out } = await login();
      expect(out).toBe("owner@example.org is signed in; the token is stored in the system's keychain\n");
      const secret = fake.accounts.secrets.find((each) => each.startsWith("refresh"))!;
      const kept = Object.values(JSON.parse(keychain.held()) as Record<string, string>);
      expect(kept).toHaveLength(1);
      expect(Buffer.from(kept[0]!, "base64url").toString()).toContain(secret);
      expect(keychain.calls()).not.toContain(kept[0]);
      for (const file of filesIn(join(folder, "state"))) expect(readFileSync(file, "utf8")).not.toContain(secret);
      expect(await apiOf().account(signal)).toMatchObject({ email: "owner@example.org" });
      await stand.run(["drive", "logout"], { env });
      expect(keychain.held()).toBe("{}");
    },
  );

  it("refreshes a token that was revoked early, and reports when that fails", async () => {
    await login();
    const api = apiOf();
    await api.account(signal);
    fake.accounts.expire();
    expect(await api.account(signal)).toMatchObject({ email: "owner@example.org" });
    fake.accounts.expire();
    fake.accounts.revoke(fake.accounts.secrets.find((each) => each.startsWith("refresh"))!);
    const refused = await apiOf()
      .account(signal)
      .catch((cause: unknown) => cause as Error);
    expect(refused).toMatchObject({
      kind: "denied",
      message: expect.stringContaining("pressmark drive login") as string,
    });
    const said = JSON.stringify([refused, (refused as Error).cause, String((refused as Error).stack)]);
    for (const secret of fake.accounts.secrets) expect(said).not.toContain(secret);
    const { out } = await stand.run(["drive", "status"], { env });
    expect(out).toMatch(/^owner@example\.org {2}file {2}cannot get credentials/);
  });

  it("does not wait long for the token server, and reports that it is unreachable", async () => {
    await login();
    fake.fail("hang", { where: "/token" });
    await expect(apiOf({ timeoutMs: 100 }).account(signal)).rejects.toMatchObject({
      kind: "unavailable",
      passing: true,
    });
    const leaving = new AbortController();
    fake.fail("hang", { where: "/token" });
    fake.onAsk = () => leaving.abort();
    await expect(apiOf().account(leaving.signal)).rejects.toMatchObject({ kind: "cancelled" });
    fake.onAsk = undefined;
    await fake.close();
    await expect(apiOf().account(signal)).rejects.toMatchObject({ kind: "unavailable", passing: true });
  });

  it("reports that access was refused", async () => {
    fake.agrees = false;
    const { code, out, err } = await login();
    expect([code, out]).toEqual([expect.any(Number), ""]);
    expect(code).not.toBe(0);
    expect(err).toContain('access was not granted ("access_denied")');
  });

  it("takes the answer to its own question, and no other", async () => {
    const statuses: number[] = [];
    const { heard, answer } = browser();
    let isAsked = false;
    const ran = stand.run(["drive", "login", "--client", "client.json", "--no-browser"], {
      env,
      heard(text) {
        const url = /^http\S+$/m.exec(text)?.[0];
        if (url === undefined || isAsked) return;
        isAsked = true;
        const endpoint = new URL(url).searchParams.get("redirect_uri")!;
        void Promise.all([
          fetch(`${endpoint}?code=stolen&state=guessed`),
          fetch(`${endpoint}?code=stolen`),
          fetch(`${endpoint}favicon.ico`),
          fetch(endpoint, { method: "POST" }),
        ]).then((answers) => {
          statuses.push(...answers.map(({ status }) => status));
          heard(text);
        });
      },
    });
    expect((await answer).status).toBe(200);
    expect((await ran).code).toBe(0);
    expect(statuses).toEqual([404, 404, 404, 404]);
  });

  it.each([
    [["drive", "login"], "--client"],
    [["drive", "login", "--client", "none.json"], "cannot be read"],
    [["drive", "login", "--client", "web.json"], "Desktop app"],
    [["drive", "logout"], "nobody is signed in"],
    [["drive", "logout", "--account", "x@example.org"], "is not signed in"],
    [["drive", "status", "--client", "x"], "works only with login"],
    [["drive", "other"], "login, logout, status"],
  ])("%j says what is wrong", async (words, said) => {
    stand.write("web.json", JSON.stringify({ web: { client_id: "x" } }));
    const { code, err } = await stand.run(words, { env });
    expect(code).not.toBe(0);
    expect(err).toContain(said);
  });
});
