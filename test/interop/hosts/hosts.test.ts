/**
 * `pressmark add` for real hosts from npm, without an account: the host finds the entry, says in which state it is, connects after approval, and
 * reads a resource of the project although it was started in a folder below. Where a host needs a model, it gets a scripted one.
 *
 * PRESSMARK_HOSTS=gemini,cn runs these alone.
 */
import { describe, expect, it } from "vitest";
import { hostFiles, type HostName } from "../../../src/config/hosts/hosts.ts";
import { tokenReference } from "../../../src/config/hosts/token-reference.ts";
import { askHost } from "../../../src/server/ask-host.ts";
import { startServe } from "../../faults/pressmark-process.ts";
import { readThroughCodex } from "./codex-app-server.ts";
import { createHostPlace, type HostPlace, rootText } from "./host-place.ts";
import { hostileMark, writeHostileProject } from "./hostile-project.ts";
import { type HostProgram, installHost, isToRun } from "./install.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

interface HostTrial {
  readonly host: HostName;
  readonly title: string;
  readonly program: HostProgram;
  /** Before `add`: what a user of this host would have. */
  prepare?(place: HostPlace, model: string): void | Promise<unknown>;
  /** What `doctor` says after `add`, and after approval. */
  readonly pending?: string;
  approve?(place: HostPlace): void | Promise<unknown>;
  readonly ready: string;
  /** The list of the host, asked in a folder below the project. */
  readonly list: readonly string[];
  readonly listed: RegExp;
  /** Hosts that look for settings only where they are started. */
  readonly startsInProject?: boolean;
  /** Runs a prompt. */
  prompt?(place: HostPlace, model: string): Promise<string>;
  /** Without a model. */
  read?(place: HostPlace): Promise<string>;
  /** What its model is shown beside our tools (docs/quick-start.md). */
  readonly shows?: {
    readonly instructions: boolean;
    /** The host's own tools for resources. */
    readonly tools: readonly string[];
  };
}

/** In all hosts that have them. */
const ownTools =
  /(?:ListMcpResourcesTool|ReadMcpResourceTool|ReadMcpResourceDirTool|list_mcp_resources|list_mcp_resource_templates|read_mcp_resource)\b/g;

const connected = "ok: has an entry for Pressmark and connects";
const trials: readonly HostTrial[] = [
  {
    host: "claude-code",
    title: "Claude Code",
    program: "claude",
    shows: { instructions: true, tools: ["ListMcpResourcesTool", "ReadMcpResourceDirTool", "ReadMcpResourceTool"] },
    pending: "hint: its entry for Pressmark is pending approval",
    approve({ project, write }) {
      const own = { hasTrustDialogAccepted: true, enabledMcpjsonServers: ["pressmark"] };
      write("home/.claude.json", { hasCompletedOnboarding: true, projects: { [project]: own } });
    },
    ready: connected,
    list: ["mcp", "list"],
    listed: /pressmark: .*Connected/,
    prompt: ({ run }, model) =>
      run(["-p", "read it", "--allowedTools", "mcp__pressmark"], {
        env: {
          ANTHROPIC_BASE_URL: model,
          ANTHROPIC_API_KEY: "none",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          // Otherwise it does not wait for a slow server.
          MCP_CONNECTION_NONBLOCKING: "false",
          MCP_CONNECT_TIMEOUT_MS: "60000",
        },
      }),
  },
  {
    host: "codex",
    title: "Codex",
    program: "codex",
    prepare: ({ write }) => write("home/.codex/config.toml", 'model = "none" # mine\n'),
    pending: "hint: does not use its entry for Pressmark; the project may not be trusted yet",
    approve: ({ project, read, write }) =>
      write(
        "home/.codex/config.toml",
        `${read("home/.codex/config.toml")}[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`,
      ),
    ready: "ok: has an entry for Pressmark",
    list: ["mcp", "list"],
    listed: /^pressmark +pressmark +stdio --project .*enabled/m,
    read: readThroughCodex,
  },
  {
    host: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    shows: { instructions: true, tools: ["list_mcp_resources", "read_mcp_resource"] },
    prepare: ({ write }) =>
      write("home/.gemini/settings.json", { security: { auth: { selectedType: "gemini-api-key" } } }),
    pending: "hint: its entry for Pressmark is disabled; the project may not be trusted yet",
    approve: ({ project, write }) => write("home/.gemini/trustedFolders.json", { [project]: "TRUST_FOLDER" }),
    ready: connected,
    list: ["mcp", "list"],
    listed: /pressmark: .*Connected/,
    startsInProject: true,
    prompt: ({ run, project }, model) =>
      run(["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", "read it"], {
        cwd: project,
        env: { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model },
      }),
  },
  {
    host: "qwen",
    title: "Qwen Code",
    program: "qwen",
    shows: { instructions: true, tools: ["read_mcp_resource"] },
    pending: "hint: its entry for Pressmark is pending approval",
    approve: ({ run, project }) => run(["mcp", "approve", "pressmark"], { cwd: project }),
    ready: connected,
    list: ["mcp", "list"],
    listed: /pressmark: .*Connected/,
    startsInProject: true,
    prompt: ({ run, project }, model) =>
      run(["--auth-type", "openai", "--approval-mode", "yolo", "-p", "read it"], {
        cwd: project,
        env: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model}/v1`, OPENAI_MODEL: "m" },
      }),
  },
  {
    host: "opencode",
    title: "opencode",
    program: "opencode",
    shows: { instructions: true, tools: ["list_mcp_resource_templates", "list_mcp_resources", "read_mcp_resource"] },
    prepare: ({ write }, model) =>
      write("home/.config/opencode/opencode.jsonc", {
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            name: "scripted",
            options: { baseURL: `${model}/v1`, apiKey: "none" },
            models: { m: { name: "m", tool_call: true } },
          },
        },
        model: "scripted/m",
        small_model: "scripted/m",
        autoupdate: false,
      }),
    ready: "ok: has an entry for Pressmark",
    list: ["mcp", "list"],
    listed: /pressmark .*connected/,
    prompt: ({ run }) => run(["run", "--auto", "read it"]),
  },
  {
    host: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    shows: { instructions: false, tools: [] },
    prepare: ({ write }) => write("home/.copilot/config.json", {}),
    pending: "hint: does not use its entry for Pressmark; the project may not be trusted yet",
    approve: ({ project, write }) => write("home/.copilot/config.json", { trustedFolders: [project] }),
    ready: "ok: has an entry for Pressmark",
    list: ["mcp", "list"],
    listed: /Workspace servers:\s+pressmark/,
    prompt: ({ run }, model) =>
      run(["-p", "read it", "--allow-all-tools"], {
        env: { COPILOT_OFFLINE: "true", COPILOT_PROVIDER_BASE_URL: `${model}/v1`, COPILOT_MODEL: "m" },
      }),
  },
  {
    host: "amp",
    title: "Amp",
    program: "amp",
    // Approval, health and prompts need an account.
    ready: "ok: has an entry for Pressmark",
    list: ["mcp", "list"],
    listed: /Workspace .*\n +pressmark +command +pressmark stdio --project/,
  },
  {
    host: "cline",
    title: "Cline",
    program: "cline",
    prepare: ({ run }, model) => run(["auth", "-p", "openai-compatible", "-k", "none", "-m", "m", "-b", `${model}/v1`]),
    ready: "ok: has an entry for Pressmark",
    list: ["config", "mcp"],
    listed: /pressmark \[stdio\]/,
    // It leaves a process behind.
    async prompt({ run }) {
      const printed = await run(["read it"]);
      await run(["hub", "stop"]);
      return printed;
    },
  },
  {
    host: "continue",
    title: "Continue",
    program: "cn",
    prepare: ({ write }, model) =>
      write(
        "home/.continue/config.yaml",
        `# mine\nname: mine\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: m # scripted\n    provider: openai\n    model: m\n    apiBase: ${model}/v1\n    apiKey: none\n    capabilities: [tool_use]\n    roles: [chat]\n`,
      ),
    ready: "ok: has an entry for Pressmark",
    // It has no list.
    list: ["--version"],
    listed: /1\.5\.47/,
    prompt: ({ run }) => run(["-p", "--auto", "read it"]),
  },
];

const paths = { project: "/", home: "/", platform: process.platform } as const;
const token = "0123456789abcdef0123456789abcdef";

for (const trial of trials.filter(({ program }) => isToRun(program))) {
  const missing = installHost(trial.program);
  const { title, host, program } = trial;
  const label = missing === undefined ? title : `${title} (skipped: ${missing})`;
  describe.skipIf(missing !== undefined)(label, { timeout: 300_000 }, () => {
    it("finds what add writes, says what remains, connects from a folder below, and reads", async () => {
      using place = createHostPlace(program);
      await using model = await startScriptedModel(place.uri);
      await trial.prepare?.(place, model.url);
      expect(await place.pressmark("add", host, "--yes")).toMatch(/^wrote /m);
      if (trial.pending !== undefined) {
        expect(await place.doctor(title)).toContain(trial.pending);
        await trial.approve!(place);
      }
      expect(await place.doctor(title)).toContain(trial.ready);
      const cwd = trial.startsInProject ? place.project : place.sub;
      expect(await place.run(trial.list, { cwd })).toMatch(trial.listed);
      await expectRead(trial, place, model);
    });

    const asked = hostFiles({ ...paths, env: {} }).some((file) => file.host === host && file.query);
    it.skipIf(!asked)("runs nothing of a hostile project when doctor asks it", async () => {
      using place = createHostPlace(program);
      await trial.prepare?.(place, "http://127.0.0.1:1");
      writeHostileProject(place);
      if (trial.pending !== undefined)
        expect(await place.doctor(title)).toContain('starts "sh", which is not Pressmark');
      // For which doctor does not ask.
      const file = hostFiles({ ...paths, ...place }).find((each) => each.host === host)!;
      const ask = () => askHost(file, { ...place, signal: AbortSignal.timeout(60_000) });
      expect(["pending", "disabled", "missing"]).toContain(await ask());
      expect(() => place.read(hostileMark)).toThrow("ENOENT");
      // Those that check the health of servers would have run it.
      await trial.approve?.(place);
      await ask();
      if (trial.ready === connected) expect(place.read(hostileMark)).toContain("server");
    });

    it.skipIf(!trial.prompt && !trial.read)("reads over HTTP, with the token of a variable where it can", async () => {
      using place = createHostPlace(program, { HOST_TOKEN: token });
      await using model = await startScriptedModel(place.uri);
      await trial.prepare?.(place, model.url);
      const hasReference = tokenReference(trial.host, "HOST_TOKEN") !== undefined;
      const served = await startServe([], {
        cwd: place.project,
        env: { ...place.env, ...(hasReference && { PRESSMARK_TOKEN: token }) },
      });
      try {
        const reference = hasReference ? ["--token-env", "HOST_TOKEN"] : [];
        await place.pressmark("add", host, "--http", "--port", String(served.port), ...reference, "--yes");
        await trial.approve?.(place);
        await expectRead(trial, place, model);
      } finally {
        served.child.kill();
        await served.exited;
      }
    });
  });
}

describe("what cannot be run without an account, or is not on npm", () => {
  it.skip("Amp: approve, connect and read (it starts a login)", () => {});
  it.skip("Claude Desktop, VS Code, Cursor and Zed: all but the format of their settings", () => {});
});

/** The host passes the text to its model, or prints it. */
async function expectRead(trial: HostTrial, place: HostPlace, model: ScriptedModel): Promise<void> {
  if (trial.read) expect(await trial.read(place)).toContain(rootText);
  const printed = await trial.prompt?.(place, model.url);
  if (printed === undefined) return;
  // Without the prompts of the host, which are long.
  const heard = model.heard.map((body) => `${body.length} characters, ${/no resource at[^"]*/.exec(body)?.[0]}`);
  const told = model.heard.join("\n");
  expect(told.includes(rootText), [printed, ...heard].join("\n")).toBe(true);
  const tools = [...new Set(told.match(ownTools))].toSorted();
  if (trial.shows)
    expect({ instructions: told.includes("The server pressmark lets you read"), tools }).toEqual(trial.shows);
}
