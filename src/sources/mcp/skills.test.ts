import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { openPolicy, type Policy } from "../../access/policy.ts";
import { connect } from "../../client/connect.ts";
import { readSkill } from "../../client/read-skill.ts";
import { notFound } from "../../errors.ts";
import { createProtocol } from "../../protocol/create-protocol.ts";
import type { Call, Resources, Skill } from "../../resources.ts";
import { createResources, type LocalResources } from "../../router/create-resources.ts";
import type { Mount } from "../../router/route.ts";
import { createRuntime } from "../../server/runtime.ts";
import { collect } from "../../testing/pages.ts";
import { refusal } from "../../testing/refusal.ts";
import { listen } from "../../transport/listen.ts";
import mcp from "../mcp.ts";
import { createMemory } from "../memory.ts";
import skills from "../skills.ts";

const call: Call = { caller: { id: "reader" }, signal: new AbortController().signal };
const log: string[] = [];
const runtime = {
  ...createRuntime({ write: () => true }),
  log: (_level: string, message: string) => void log.push(message),
};
const here = (path: string) => `mcp://far/skill:%2F%2F/${path}`;

function resourcesOf(mounts: readonly Mount[], policy: Policy = openPolicy): LocalResources {
  const pressmark = createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32), pageSize: 2 });
  onTestFinished(() => pressmark.close());
  return pressmark;
}

async function serve(resources: Resources): Promise<string> {
  const listening = await listen(createProtocol({ resources, server: { name: "up", version: "1" } }), {
    port: 0,
    graceMs: 0,
  });
  onTestFinished(async () => {
    listening.server.closeAllConnections();
    await listening.close();
  });
  return listening.url;
}

async function gatewayTo(url: string, policy?: Policy): Promise<LocalResources> {
  const source = await mcp.open(mcp.options(z).parse({ url }), runtime);
  return resourcesOf([{ name: "far", base: "mcp://far/", source }], policy);
}

/** Skills in a folder, behind a real server. */
async function openSkills(files: Readonly<Record<string, string>>) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-relayed-skills-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  const source = await skills.open(skills.options(z).parse({ root }), runtime);
  return { write, url: await serve(resourcesOf([{ name: "skills", base: "skill://", source }])) };
}

const manifest = (name: string, text = "Do it.") => `---\nname: ${name}\ndescription: how to ${name}\n---\n\n${text}\n`;
const files = {
  "refund/SKILL.md": manifest("refund"),
  "refund/scripts/pay.sh": "echo pay\n",
  "refund/secrets/key.txt": "hidden\n",
  "acme/review/SKILL.md": manifest("review"),
  "ship/SKILL.md": manifest("ship"),
};

function listSkills(pressmark: Resources): Promise<Skill[]> {
  return collect((cursor) => pressmark.skills!(cursor === undefined ? {} : { cursor }, call));
}

describe("skills of another server", () => {
  it("are skills here, on every page, and all their files match their digests", async () => {
    const { url } = await openSkills(files);
    const gateway = await gatewayTo(url);
    const found = await listSkills(gateway);
    expect(found.map(({ uri }) => uri).sort()).toEqual(
      ["acme/review/SKILL.md", "refund/SKILL.md", "ship/SKILL.md"].map(here),
    );
    for (const { uri, frontMatter } of found) {
      // Split as text, as a host may do it.
      expect(uri.split("/").at(-2)).toBe(frontMatter.name);
      const checked = await readSkill(gateway, uri, call);
      expect(checked.skill).toEqual(found.find((skill) => skill.uri === uri));
    }
    const refund = await readSkill(gateway, here("refund/SKILL.md"), call);
    expect(refund.files.map((file) => [file.uri, new TextDecoder().decode(file.bytes)])).toContainEqual([
      here("refund/scripts/pay.sh"),
      "echo pay\n",
    ]);
    await refusal(gateway.skill!(here("refund/scripts/pay.sh"), call), ["not-found"], "no manifest");
    await refusal(gateway.skill!(here("nowhere/SKILL.md"), call), ["not-found"], "nowhere");
  });

  it("are found through two gateways, by a client", async () => {
    const { url } = await openSkills(files);
    const client = await connect(await serve(await gatewayTo(await serve(await gatewayTo(url)))));
    onTestFinished(() => client.close());
    const found = await listSkills(client);
    expect(found).toHaveLength(3);
    for (const { uri } of found) expect((await readSkill(client, uri, call)).files.length).toBeGreaterThan(0);
  });

  it("contain only files that the policy lets a caller see", async () => {
    const { url } = await openSkills(files);
    const policy: Policy = { maySee: (_caller, _mount, { path }) => !/\/(?:secrets|ship)(?:\/|$)/.test(path) };
    const gateway = await gatewayTo(url, policy);
    const found = await listSkills(gateway);
    expect(found.map(({ frontMatter }) => frontMatter.name).sort()).toEqual(["refund", "review"]);
    expect(JSON.stringify(found)).not.toContain("secrets");
    await refusal(gateway.skill!(here("ship/SKILL.md"), call), ["not-found"], "ship");
    await refusal(gateway.skill!("mcp://far/skill:%2F%2Fship/SKILL.md", call), ["not-found"], "another spelling");
  });

  it("are completed and read through their templates", async () => {
    const { url } = await openSkills(files);
    const gateway = await gatewayTo(url);
    const templates = (await gateway.templates({}, call)).items.map(({ uriTemplate }) => uriTemplate);
    expect(templates).toContain(here("{+skill}/SKILL.md"));
    const send = { template: here("{+skill}/SKILL.md"), variable: "skill", value: "re", given: {} };
    expect((await gateway.complete(send, call)).values).toContain("refund");
  });
});

/** A server that returns any given skill. */
function promising(skill: (asked: number) => Skill | undefined, text: () => string): Resources {
  const inner = resourcesOf([{ name: "up", base: "skill://", source: createMemory({ "a/SKILL.md": "" }).source }]);
  let asked = 0;
  const said = () => skill((asked += 1));
  return {
    ...inner,
    read: async (uri) => ({ contents: [{ uri, body: { text: text() } }], ttlMs: 0, scope: "private" }),
    skills: async () => ({ items: [said()].filter((each) => each !== undefined) }),
    async skill(uri) {
      const found = said();
      if (!found) throw notFound(uri);
      return { skill: found, ttlMs: 0, scope: "private" };
    },
    listFreshness: inner.listFreshness,
  };
}

const sha = async (text: string) =>
  `sha256:${Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toString("hex")}`;
const frontMatter = { name: "a", description: "a" };
const uri = "skill://a/SKILL.md";

it("skills are listed without reading any of their files", async () => {
  let reads = 0;
  const upstream = promising(
    () => ({ uri, frontMatter, files: "dynamic" }),
    () => String((reads += 1)),
  );
  const gateway = await gatewayTo(await serve(upstream));
  expect(await listSkills(gateway)).toHaveLength(1);
  await gateway.skill!(here("a/SKILL.md"), call);
  expect(reads).toBe(0);
});

/** A SKILL.md with the front matter of the entry, unless other is given. */
const written = (body: string, description = "a") => `---\nname: a\ndescription: ${description}\n---\n${body}`;

/** The entry of a skill with this SKILL.md alone. */
async function promise(text: string): Promise<Skill> {
  return { uri, frontMatter, files: [{ uri, digest: await sha(text), size: text.length }] };
}

describe("a file that does not match its skill", () => {
  const promised = written("as promised");
  it.each([
    ["has another digest", promised, written("as PROMISED")],
    ["has another size", promised, written("as promised, and more")],
    ["has other front matter", written("", "b"), written("", "b")],
    ["has more front matter", written("", "a\nlicense: MIT"), written("", "a\nlicense: MIT")],
    ["has no front matter", "Do it.", "Do it."],
  ])("is not returned: it %s", async (_how, expected, text) => {
    const skill = await promise(expected);
    for (const listed of [true, false]) {
      const gateway = await gatewayTo(
        await serve(
          promising(
            () => skill,
            () => text,
          ),
        ),
      );
      if (listed) await listSkills(gateway);
      await refusal(gateway.read(here("a/SKILL.md"), call), ["unexpected"], text);
    }
  });

  it("is not returned if only its front matter is promised, and differs", async () => {
    for (const [text, isRight] of [
      [written("generated"), true],
      [written("generated", "b"), false],
    ] as const) {
      const upstream = promising(
        () => ({ uri, frontMatter, files: "dynamic" }),
        () => text,
      );
      const gateway = await gatewayTo(await serve(upstream));
      const reading = gateway.read(here("a/SKILL.md"), call);
      if (isRight) expect((await reading).contents[0]?.body).toEqual({ text });
      else await refusal(reading, ["unexpected"], text);
    }
  });

  it("is returned if the skill has changed with it, or no longer exists", async () => {
    const [before, after] = [await promise(written("before")), await promise(written("behind"))];
    const later = (asked: number): Skill => (asked === 1 ? before : after);
    for (const skill of [later, (asked: number) => (asked === 1 ? before : undefined)]) {
      const gateway = await gatewayTo(await serve(promising(skill, () => written("behind"))));
      await listSkills(gateway);
      const { contents } = await gateway.read(here("a/SKILL.md"), call);
      expect(contents[0]?.body).toEqual({ text: written("behind") });
    }
  });
});

it.each<[string, Partial<Skill>]>([
  ["its name differs from its folder", { frontMatter: { name: "b", description: "" } }],
  ["it does not list its SKILL.md", { files: [] }],
  ["its file list is invalid", { files: [{ uri, digest: "md5:1", size: 1 }] }],
  ["its file list is invalid", { files: [{ uri, digest: `sha256:${"0".repeat(64)}`, size: -1 }] }],
  [
    "the URI of one of its files cannot be expressed below this mount",
    { files: [{ uri: `${uri}#x`, digest: "", size: 1 }] },
  ],
  ["its URI cannot be expressed below this mount", { uri: "skill://a/../SKILL.md" }],
])("an invalid skill is left out, and the log has the reason: %s", async (why, wrong) => {
  log.length = 0;
  const skill: Skill = { uri, frontMatter, files: "dynamic", ...wrong };
  const gateway = await gatewayTo(
    await serve(
      promising(
        () => skill,
        () => "",
      ),
    ),
  );
  expect(await listSkills(gateway)).toEqual([]);
  expect(log.join("\n")).toContain(why);
});
