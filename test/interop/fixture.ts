/** A server with everything that the official conformance suite asks a server for, on the real server and the real transport. */
import { randomBytes } from "node:crypto";
import { openPolicy } from "../../src/access/policy.ts";
import { stack } from "../../src/layer.ts";
import { standardLayers } from "../../src/layers/standard.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import type { Protocol } from "../../src/protocol/protocol.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Runtime } from "../../src/source.ts";
import type { Memory } from "../../src/sources/memory.ts";
import skills from "../../src/sources/skills.ts";
import { listen } from "../../src/transport/listen.ts";
import { listenByFetch } from "../../src/transport/test-server.ts";
import { createFixturePrompts } from "./fixture-prompts.ts";
import { createFixtureMemory } from "./fixture-resources.ts";
import { createFixtureTools } from "./fixture-tools.ts";
import { createSkillsFolder } from "./skills-folder.ts";

interface OpenFixture extends AsyncDisposable {
  readonly edge: Protocol;
  readonly runtime: Runtime;
  readonly memory: Memory;
  /** What was written to the log. */
  readonly log: readonly string[];
}

export interface Fixture extends AsyncDisposable {
  readonly url: string;
  readonly memory: Memory;
  /** What was written to the log. */
  readonly log: readonly string[];
}

/** By which handler fixtures are served. `conformance-fetch.test.ts` switches it. */
export const servedBy = { fetch: false };

export async function startFixture(): Promise<Fixture> {
  const { edge, runtime, memory, log, [Symbol.asyncDispose]: dispose } = await openFixture();
  const listening = servedBy.fetch
    ? await listenByFetch(edge, { graceMs: 200, log: runtime.log })
    : await listen(edge, { port: 0, graceMs: 200, log: runtime.log });
  return {
    url: listening.url,
    memory,
    log,
    async [Symbol.asyncDispose]() {
      await listening.close();
      await dispose();
    },
  };
}

/** Without a transport. */
export async function openFixture(): Promise<OpenFixture> {
  const log: string[] = [];
  const runtime = createRuntime({ write: (line: unknown) => log.push(String(line)) > 0 });
  const memory = createFixtureMemory();
  const mount = { name: "test", base: "test://" };
  const folder = await createSkillsFolder();
  const skilled = { name: "skills", base: "skill://" };
  const source = await skills.open({ root: folder.path }, runtime);
  const resources = createResources({
    mounts: [
      { ...mount, source: stack(memory.source, mount, standardLayers(runtime)) },
      { ...skilled, source: stack(source, skilled, standardLayers(runtime)) },
    ],
    policy: openPolicy,
    runtime,
    cursorKey: randomBytes(32),
  });
  const edge = createProtocol({
    resources,
    server: { name: "pressmark-conformance", version: "1.0.0" },
    tools: createFixtureTools(resources),
    prompts: createFixturePrompts(resources),
    log: runtime.log,
  });
  return {
    edge,
    runtime,
    memory,
    log,
    async [Symbol.asyncDispose]() {
      await resources.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
