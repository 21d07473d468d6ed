/** The texts that "Use in…" offers for hosts, pasted into real ones with a scripted model: what they attach, and what stays text. */
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { usesOf } from "../../../src/lib/host-uses.ts";
import { hasScript } from "../../live/hosts.ts";
import { createHostPlace, type HostPlace, rootText } from "./host-place.ts";
import { type HostProgram, installHost, isToRun, programOf } from "./install.ts";
import { startScriptedModel } from "./scripted-model.ts";

const claudeMissing = whyMissing("claude");
const geminiMissing = whyMissing("gemini");
const qwenMissing = whyMissing("qwen");
const otherText = "coffee from another file";
const config = 'mounts: { project: { source: file, root: "." } }\nsets: { onboarding: { resources: [root.md] } }\n';

describe.skipIf(claudeMissing !== undefined)(`Claude Code ${claudeMissing ?? ""}`, { timeout: 120_000 }, () => {
  it("attaches a mentioned resource, under the configured name of the server", async () => {
    expect(await toldByClaude("docs", ({ uri }) => textOf("claude-code-mentions", uri, "docs"))).toContain(rootText);
  });

  it("attaches no lines of a resource: their URI is not in the server's list", async () => {
    const body = await toldByClaude("pressmark", ({ uri }) => `@pressmark:${uri}?lines=1-1`);
    expect(body.includes(rootText)).toBe(false);
  });

  it("runs the command of a set", async () => {
    expect(await toldByClaude("pressmark", ({ uri }) => textOf("claude-code-command", uri, "pressmark"))).toContain(
      rootText,
    );
  });
});

describe.skipIf(geminiMissing !== undefined)(`Gemini CLI ${geminiMissing ?? ""}`, { timeout: 120_000 }, () => {
  it("attaches a mentioned resource", async () => {
    expect(await toldByGemini(({ uri }) => textOf("gemini-mentions", uri, "pressmark"))).toContain(rootText);
  });

  it("attaches the whole resource for lines, or nothing if the question mark is escaped", async () => {
    expect(await toldByGemini(({ uri }) => `@pressmark:${uri}?lines=1-1`)).toContain(rootText);
    const body = await toldByGemini(({ uri }) => String.raw`@pressmark:${uri}\?lines=1-1`);
    expect(body.includes(rootText)).toBe(false);
  });
});

describe.skipIf(qwenMissing !== undefined)(`Qwen Code ${qwenMissing ?? ""}`, { timeout: 120_000 }, () => {
  it("attaches a mentioned resource", async () => {
    expect(await toldByQwen(({ uri }) => `@pressmark:${uri}`)).toContain(rootText);
  });

  it("attaches the whole resource for lines", async () => {
    expect(await toldByQwen(({ uri }) => `@pressmark:${uri}?lines=2-2`)).toContain(rootText);
  });
});

function whyMissing(name: HostProgram): string | undefined {
  if (!isToRun(name)) return "(not chosen)";
  return hasScript() ? installHost(name) : "(needs script)";
}

function textOf(id: string, uri: string, server: string): string {
  return usesOf({ chosen: [{ uri }], server, prompt: "onboarding" }).find((use) => use.id === id)!.text!;
}

/** The model's requests that contain the text, after it was pasted at a terminal: with `-p` it attaches nothing. */
async function toldByClaude(server: string, textFor: (place: HostPlace) => string): Promise<string> {
  using place = createHostPlace("claude");
  await using model = await startScriptedModel();
  place.write("project/pressmark.config.yaml", config);
  place.write("project/other.md", otherText);
  await place.pressmark("add", "claude-code", "--yes");
  place.write("project/.mcp.json", place.read("project/.mcp.json").replace('"pressmark":', `"${server}":`));
  const key = "0123456789abcdefghij";
  const own = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true, enabledMcpjsonServers: [server] };
  place.write("home/.claude.json", {
    hasCompletedOnboarding: true,
    theme: "dark",
    customApiKeyResponses: { approved: [key], rejected: [] },
    projects: { [place.project]: own },
  });
  const text = textFor(place);
  const child = spawn("script", ["-qec", `stty cols 4000; ${programOf("claude")}`, "/dev/null"], {
    cwd: place.project,
    env: {
      ...place.env,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      MCP_CONNECTION_NONBLOCKING: "false",
      MCP_CONNECT_TIMEOUT_MS: "60000",
    },
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => (printed += more));
  /** Pastes and submits; gives the request that the model gets. */
  async function submit(pasted: string): Promise<string> {
    const before = model.heard.length;
    const body = () => model.heard.slice(before).find((each) => each.includes(JSON.stringify(pasted).slice(1, -1)));
    child.stdin.write(`\u001B[200~${pasted}\u001B[201~`);
    const enter = () => {
      child.stdin.write("\r");
      return body();
    };
    await expect.poll(enter, { timeout: 30_000, interval: 1000 }).toBeDefined();
    return body()!;
  }
  try {
    await expect.poll(() => printed, { timeout: 60_000 }).toContain("❯");
    // Until the server is connected and has listed its resources, nothing is attached.
    const other = `@${server}:${place.uri.replace("root.md", "other.md")}`;
    await expect.poll(() => submit(other), { timeout: 90_000 }).toContain(otherText);
    return await submit(text);
  } finally {
    child.kill("SIGKILL");
  }
}

async function toldByGemini(textFor: (place: HostPlace) => string): Promise<string> {
  using place = createHostPlace("gemini");
  await using model = await startScriptedModel();
  await place.pressmark("add", "gemini", "--yes");
  place.write("home/.gemini/settings.json", { security: { auth: { selectedType: "gemini-api-key" } } });
  place.write("home/.gemini/trustedFolders.json", { [place.project]: "TRUST_FOLDER" });
  const printed = await place.run(["-m", "gemini-2.5-flash", "-p", `Say done. ${textFor(place)}`], {
    cwd: place.project,
    env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url },
  });
  expect(model.heard.length, printed).toBeGreaterThan(0);
  return model.heard.join("\n");
}

async function toldByQwen(textFor: (place: HostPlace) => string): Promise<string> {
  using place = createHostPlace("qwen");
  await using model = await startScriptedModel();
  await place.pressmark("add", "qwen", "--yes");
  await place.run(["mcp", "approve", "pressmark"], { cwd: place.project });
  const printed = await place.run(["--auth-type", "openai", "-p", `Say done. ${textFor(place)}`], {
    cwd: place.project,
    env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_MODEL: "m" },
  });
  expect(model.heard.length, printed).toBeGreaterThan(0);
  return model.heard.join("\n");
}
