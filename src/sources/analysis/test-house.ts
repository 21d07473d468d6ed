/** A house with a mount of results, for tests. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach } from "vitest";
import { openPolicy, type Policy } from "../../access/policy.ts";
import type { Call } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import type { Mount } from "../../router/route.ts";
import type { Tools } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { openAnalysis } from "../analysis.ts";
import { createStore } from "./create-store.ts";
import { createFile } from "./sqlite-database.ts";
import { optionsFor, question, resultOf, temporaryFile } from "./test-results.ts";

export interface Furnished {
  readonly path?: string;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly others?: readonly Mount[];
  readonly policy?: Policy;
  readonly placeOf?: (key: Uint8Array) => number;
  readonly tools?: Tools;
}

/** A house with results at `analysis://`, and time that is moved by hand unless other tools are given. */
function furnish({ path = temporaryFile(), options = {}, others = [], policy = openPolicy, ...more }: Furnished = {}) {
  const clock = createClock();
  const stop = new AbortController();
  const tools: Tools = {
    ...(more.tools ?? clock.tools),
    house: {
      read: (uri, call) => house.read(uri, call),
      stat: (uri, call) => house.stat(uri, call),
      watch: (filter, call) => house.watch(filter, call),
    },
  };
  const checked = optionsFor({ path }, options);
  const { placeOf } = more;
  const store = createStore({
    database: createFile(path, tools),
    maxBytes: checked.maxBytes,
    leaseMs: checked.leaseMs,
    ...(placeOf && { placeOf }),
  });
  const source = openAnalysis(checked, tools, store);
  const house = createResources({
    mounts: [{ name: "wall", base: "analysis://", source }, ...others],
    policy,
    tools,
    cursorKey: new Uint8Array(32),
  });
  const call: Call = { caller: { id: "test" }, signal: stop.signal };
  const act = async (name: string, input: unknown, asked = call) =>
    (await house.act?.({ mount: "wall", name }, input, asked))?.value ?? {};
  return {
    path,
    clock,
    source,
    store,
    house,
    call,
    stop,
    find: (input: object = {}) => act("find_analysis", { ...question, waitMs: 0, ...input }),
    keep: (input: object = {}) => act("store_analysis", { ...question, result: resultOf(), ...input }),
    act,
    async json(uri: string) {
      const { contents, ...freshness } = await house.read(uri, call);
      const body = contents[0]?.body;
      return { ...freshness, value: JSON.parse(body && "text" in body ? body.text : "null") };
    },
    async text(uri: string) {
      const body = (await house.read(uri, call)).contents[0]?.body;
      return body && "text" in body ? body.text : "";
    },
  };
}

/** What is opened through it is closed, and its file removed, after each test. */
export function useHouses(): typeof furnish {
  const opened: ReturnType<typeof furnish>[] = [];
  afterEach(async () => {
    for (const { house, stop, path } of opened.splice(0)) {
      stop.abort();
      await house.close();
      rmSync(dirname(path), { recursive: true, force: true });
    }
  });
  return (options) => {
    const furnished = furnish(options);
    opened.push(furnished);
    return furnished;
  };
}
