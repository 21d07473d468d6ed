import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createStand, type Stand } from "../test-command.ts";
import { auditFolder, createAuditLog } from "../../server/audit-log.ts";

let stand: Stand;

const stateFolder = () => join(stand.folder, "..", "state", "pressmark");
const runtime = { now: () => 1_800_000_000_000, log: () => undefined };

beforeEach(async () => {
  stand = createStand();
  stand.write(
    "team.yaml",
    "mounts:\n  docs: { source: file, root: . }\ncallers: { aki: {} }\nserver: { audit: true }\n",
  );
  const audit = createAuditLog({ folder: auditFolder(stateFolder(), join(stand.folder, "team.yaml")), runtime });
  audit.write({ what: "read", caller: "aki", outcome: "allowed", uri: "docs://手順.md", rule: 1, bytes: 5 });
  audit.write({ what: "read", caller: "bo", outcome: "denied", uri: "docs://secrets/key" });
  audit.write({ what: "search", caller: "chie", outcome: "allowed", count: 1 });
  audit.write({ what: "search", caller: "chie", outcome: "allowed", count: 2 });
  await audit.close();
});

afterEach(() => stand.remove());

const run = (...words: string[]) => stand.run(["audit", ...words, "--config", "team.yaml"]);

it("prints one line per event", async () => {
  expect((await run()).out).toBe(
    "2027-01-15T08:00:00.000Z  allowed  aki  read  docs://手順.md, 5 bytes, rule 1\n" +
      "2027-01-15T08:00:00.000Z  denied   bo  read  docs://secrets/key\n" +
      "2027-01-15T08:00:00.000Z  allowed  chie  search  1 hit\n" +
      "2027-01-15T08:00:00.000Z  allowed  chie  search  2 hits\n",
  );
});

it("filters by caller, URI, outcome and time", async () => {
  expect((await run("--caller", "aki", "--json")).out.trim().split("\n")).toHaveLength(1);
  expect((await run("--outcome", "denied")).out).toContain("bo");
  expect((await run("--uri", "**/secrets/**")).out).toContain("secrets/key");
  expect((await run("--uri", "**/secrets/**")).out).not.toContain("手順");
  expect(await run("--since", "2030-01-01")).toMatchObject({
    out: "",
    err: expect.stringContaining("nothing is recorded"),
  });
});

it("finds and shows one of several URIs, and a long one of which a part is stored", async () => {
  const long = `docs://archive/${"x".repeat(3000)}/plan.md`;
  const audit = createAuditLog({ folder: auditFolder(stateFolder(), join(stand.folder, "team.yaml")), runtime });
  audit.write({ what: "watch", caller: "bo", outcome: "allowed", uris: ["docs://a b", "docs://plan.md"] });
  audit.write({ what: "read", caller: "bo", outcome: "missing", uri: long });
  await audit.close();
  const several = "2027-01-15T08:00:00.000Z  allowed  bo  watch  2 URIs: docs://a b docs://plan.md\n";
  const part = `${long.slice(0, 1536)}…${long.slice(-509)}`;
  const sha256 = createHash("sha256").update(long).digest("hex");
  const cut = `2027-01-15T08:00:00.000Z  missing  bo  read  ${part}, cut from ${long.length} bytes, SHA-256 ${sha256}\n`;
  expect((await run("--uri", "docs://plan.md")).out).toBe(several);
  expect((await run("--uri", "**/plan.md")).out).toBe(several + cut);
  expect((await run("--uri", long)).out).toBe(cut);
  expect((await run("--uri", "docs://archive/**")).out).toBe(cut);
});

it("contains created and revoked tokens, not the tokens", async () => {
  const { out: token } = await stand.run(["token", "create", "aki", "--config", "team.yaml"]);
  await stand.run(["token", "revoke", "aki", "--config", "team.yaml"]);
  const { out } = await run("--json", "--caller", "aki");
  expect(out).toMatch(/"what":"token".*"created [0-9a-f]{12}"/);
  expect(out).toMatch(/"what":"token".*"revoked [0-9a-f]{12}"/);
  expect(out).not.toContain(token.trim().slice(4));
});

it("reads nothing if the config does not say where the log is", async () => {
  stand.write("team.yaml", "server: { audit: true, stat: x }\n");
  const broken = await run();
  expect(broken).toMatchObject({ code: 2, out: "" });
  expect(broken.err).toContain("server.stat");
  expect(broken.err).not.toContain("nothing is recorded");
  stand.write("pressmark.config.yaml", "server: { state: 'postgres://u@h/d' }\n");
  const untrusted = await stand.run(["audit"]);
  expect(untrusted).toMatchObject({ code: 3, out: "" });
  expect(untrusted.err).toContain("server.state of this config is not trusted yet");
});
