/** Detects changes by polling: new samples of a series, query results, states of alerts and targets. */
import { createHash } from "node:crypto";
import { ResourceError } from "../../errors.ts";
import { isDoneWithin } from "../../lib/is-done-within.ts";
import type { Address, SourceChange, Runtime } from "../../source.ts";
import type { Call } from "../../resources.ts";
import { segmentsOf } from "../../source.ts";
import { type Api, isApiObject } from "./api.ts";
import type { MetricsCatalogue } from "./catalogue.ts";
import { labelsIn } from "./matrix.ts";
import { quotedParts } from "./promql.ts";

interface Watched {
  readonly api: Api;
  readonly catalogue: MetricsCatalogue;
  readonly pollMs: number;
  readonly runtime: Runtime;
}

interface Watcher {
  watch(signal: AbortSignal): AsyncIterable<SourceChange>;
  /** Resolves when the current state is known, or cannot be known now: then everything counts as new. */
  follow(at: Address, call: Call): Promise<void>;
}

/** A watched address, by what is polled for it. */
interface Spot {
  readonly key: string;
  readonly at: Address;
}

interface Heard extends Spot {
  /** The state when the first watch started. */
  mark: string | undefined;
  /** Resolves when that is known, or cannot be known. */
  known: Promise<unknown>;
  readonly ears: Set<AbortSignal>;
}

const maxHeard = 1000;
/** Each of these needs its own request. */
const maxQuestions = 50;
/** Names in one request. */
const namesAtOnce = 20;
const armMs = 10_000;
/** Longest delay while a server is unavailable. */
const longestMs = 60_000;

export function createWatcher({ api, catalogue, pollMs, runtime }: Watched): Watcher {
  const heard = new Map<string, Heard>();
  let isSaid = false;

  /** States by key, as far as they could be read. */
  async function look(
    spots: readonly Spot[],
    signal: AbortSignal,
  ): Promise<{ readonly marks: ReadonlyMap<string, string>; readonly isWhole: boolean }> {
    const marks = new Map<string, string>();
    let isWhole = true;
    async function mark(some: readonly Spot[], work: () => Promise<readonly string[]>): Promise<void> {
      try {
        for (const [index, found] of (await work()).entries()) marks.set(some[index]!.key, found);
      } catch (cause) {
        // Unavailable means unchanged; a request that always fails stays as it is, too.
        isWhole &&= cause instanceof ResourceError && !cause.passing;
      }
    }
    const named = spots.filter(({ at }) => at.path.startsWith("series/"));
    for (let from = 0; from < named.length; from += namesAtOnce) {
      const some = named.slice(from, from + namesAtOnce);
      await mark(some, () => newest(some.map(({ at }) => segmentsOf(at.path)[1] ?? ""), signal)); // prettier-ignore
    }
    for (const spot of spots) {
      const request = questionFor(spot.at);
      if (request) await mark([spot], async () => [await request(signal)]);
    }
    return { marks, isWhole };
  }

  function questionFor({ path, query }: Address): ((signal: AbortSignal) => Promise<string>) | undefined {
    switch (path) {
      case "alerts":
        return (signal) => stateOf("alerts", "alerts", "state", signal);
      case "targets":
        return (signal) => stateOf("targets", "activeTargets", "health", signal);
      case "series":
        return async (signal) => digest(await catalogue.all(signal));
      case "query":
        return (signal) => answerTo(query?.["promql"] ?? "", signal);
      default:
        return undefined;
    }
  }

  /** The time of the newest sample of each metric. */
  async function newest(names: readonly string[], signal: AbortSignal): Promise<string[]> {
    const query = names
      .map((name, index) => `label_replace(max(timestamp({__name__=${quotedParts(name)}})), "at", "${index}", "", "")`)
      .join(" or ");
    const { data } = await api.request("query", { query, time: String(runtime.now() / 1000) }, signal);
    const found = new Map(samplesIn(data).map(({ metric, value }) => [metric["at"], value]));
    return names.map((_, index) => found.get(String(index)) ?? "none");
  }

  async function answerTo(query: string, signal: AbortSignal): Promise<string> {
    const { data } = await api.request("query", { query, time: String(runtime.now() / 1000) }, signal);
    return digest(samplesIn(data));
  }

  /** The states only, without the time and result of the last measurement. */
  async function stateOf(endpoint: string, list: string, state: string, signal: AbortSignal): Promise<string> {
    const { data } = await api.request(endpoint, endpoint === "targets" ? { state: "active" } : {}, signal);
    const all: unknown = isApiObject(data) ? data[list] : undefined;
    const states = (Array.isArray(all) ? all : []).map((each: unknown) =>
      isApiObject(each) ? JSON.stringify([Object.entries(labelsIn(each["labels"])).sort(), each[state]]) : "",
    );
    return digest(states.sort());
  }

  async function* watch(signal: AbortSignal): AsyncGenerator<SourceChange> {
    const seen = new Map<string, string | undefined>();
    let waitMs = pollMs;
    for (;;) {
      try {
        await runtime.wait(waitMs, signal);
      } catch {
        return;
      }
      for (const key of seen.keys()) if (!heard.has(key)) seen.delete(key);
      const spots = [...heard.values()];
      const { marks, isWhole } = await look(spots, signal);
      if (signal.aborted) return;
      waitMs = isWhole ? pollMs : Math.min(2 * waitMs, Math.max(pollMs, longestMs));
      const changed = new Set<string>();
      for (const { key, at, mark: first } of spots) {
        const mark = marks.get(key);
        if (mark === undefined) continue;
        const before = seen.has(key) ? seen.get(key) : first;
        if (mark !== before) changed.add(at.path);
        seen.set(key, mark);
      }
      for (const path of changed) yield { kind: "changed", path };
    }
  }

  return {
    watch,

    async follow(at, { signal }) {
      const key = keyOf(at);
      if (signal.aborted || key === undefined) return;
      if (!heard.has(key) && isFull(at)) return;
      const each = heard.get(key) ?? {
        key,
        at,
        mark: undefined,
        known: Promise.resolve(),
        ears: new Set<AbortSignal>(),
      };
      each.ears.add(signal);
      const leave = () => {
        if (each.ears.delete(signal) && each.ears.size === 0 && heard.get(key) === each) heard.delete(key);
      };
      signal.addEventListener("abort", leave, { once: true });
      if (!heard.has(key)) {
        heard.set(key, each);
        each.known = look([each], signal).then(({ marks }) => {
          each.mark = marks.get(key);
        });
      }
      await isDoneWithin(each.known, armMs, runtime.wait, signal);
    },
  };

  function isFull({ path }: Address): boolean {
    const queries = path === "query" ? [...heard.values()].filter(({ at }) => at.path === "query").length : 0;
    if (heard.size < maxHeard && queries < maxQuestions) return false;
    if (!isSaid)
      runtime.log(
        "warn",
        `more than ${maxHeard} series or ${maxQuestions} queries are watched; the others are not polled`,
      );
    isSaid = true;
    return true;
  }
}

/** What is polled for this address, whatever its output format. */
function keyOf({ path, query }: Address): string | undefined {
  if (path === "query") return `query ${query?.["promql"] ?? ""}`;
  return path === "" ? undefined : path;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: string;
}

/** Without the time, which is that of the request. */
function samplesIn(data: unknown): Sample[] {
  const { resultType, result } = isApiObject(data) ? data : {};
  const all: readonly unknown[] = Array.isArray(result) ? result : [];
  if (resultType === "scalar" || resultType === "string") return [{ metric: {}, value: String(all[1]) }];
  return all.flatMap((each) => {
    if (!isApiObject(each)) return [];
    const value: unknown = each["value"] ?? each["histogram"] ?? each["values"];
    return [{ metric: labelsIn(each["metric"]), value: JSON.stringify(Array.isArray(value) ? value.slice(1) : value) }];
  });
}

function digest(what: unknown): string {
  return createHash("sha256").update(JSON.stringify(what)).digest("base64url");
}
