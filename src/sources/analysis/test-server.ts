/** A server with a mount of results, for tests. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach } from "vitest";
import { openPolicy, type Policy } from "../../access/policy.ts";
import type { Call } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import type { Mount } from "../../router/route.ts";
import type { Runtime } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { openAnalysis } from "../analysis.ts";
import { createAnalysisStore } from "./create-store.ts";
import { createFile } from "./sqlite-database.ts";
import { optionsFor, question, resultOf, temporaryFile } from "./test-results.ts";

export interface Built {
  readonly path?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly others?: readonly Mount[];
  readonly policy?: Policy;
  readonly placeOf?: (key: Uint8Array) => number;
  readonly runtime?: Runtime;
}

/** A server with results at `analysis://`, and a clock moved by hand unless another runtime is given. */
function build({ path = temporaryFile(), options = {}, others = [], policy = openPolicy, ...more }: Built = {}) {
  const clock = createClock();
  const stop = new AbortController();
  const runtime: Runtime = {
    ...(more.runtime ?? clock.runtime),
    resources: {
      read: (uri, call) => pressmark.read(uri, call),
      stat: (uri, call) => pressmark.stat(uri, call),
      watch: (filter, call) => pressmark.watch(filter, call),
    },
  };
  const checked = optionsFor({ path }, options);
  const { placeOf } = more;
  const store = createAnalysisStore({
    database: createFile(path, runtime),
    maxBytes: checked.maxBytes,
    leaseMs: checked.leaseMs,
    ...(placeOf && { placeOf }),
  });
  const source = openAnalysis(checked, runtime, store);
  const pressmark = createResources({
    mounts: [{ name: "wall", base: "analysis://", source }, ...others],
    policy,
    runtime,
    cursorKey: new Uint8Array(32),
  });
  const call: Call = { caller: { id: "test" }, signal: stop.signal };
  const act = async (name: string, input: unknown, requested = call) =>
    (await pressmark.act?.({ mount: "wall", name }, input, requested))?.value ?? {};
  return {
    path,
    clock,
    source,
    store,
    pressmark,
    call,
    stop,
    find: (input: object = {}) => act("find_analysis", { ...question, waitMs: 0, ...input }),
    keep: (input: object = {}) => act("store_analysis", { ...question, result: resultOf(), ...input }),
    act,
    async json(uri: string) {
      const { contents, ...freshness } = await pressmark.read(uri, call);
      const body = contents[0]?.body;
      return { ...freshness, value: JSON.parse(body && "text" in body ? body.text : "null") };
    },
    async text(uri: string) {
      const body = (await pressmark.read(uri, call)).contents[0]?.body;
      return body && "text" in body ? body.text : "";
    },
  };
}

/** Closes what was opened, and removes its file, after each test. */
export function useServers(): typeof build {
  const opened: ReturnType<typeof build>[] = [];
  afterEach(async () => {
    for (const { pressmark, stop, path } of opened.splice(0)) {
      stop.abort();
      await pressmark.close();
      rmSync(dirname(path), { recursive: true, force: true });
    }
  });
  return (options) => {
    const built = build(options);
    opened.push(built);
    return built;
  };
}
