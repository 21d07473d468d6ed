/** Which metrics exist, with their metadata. */
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { cancelled } from "../../errors.ts";
import { type Api, isApiObject, textsIn } from "./api.ts";

export interface Metric {
  readonly name: string;
  /** counter, gauge, histogram, summary, or another word of the server. */
  readonly type?: string;
  readonly help?: string;
  readonly unit?: string;
}

export interface MetricsCatalogue {
  /** In address order, by name. */
  all(signal: AbortSignal): Promise<readonly Metric[]>;
  /** Undefined if there is no such metric. */
  find(name: string, signal: AbortSignal): Promise<Metric | undefined>;
  /** False if the server gave no metadata at the last request. */
  readonly hasMetadata: boolean;
}

const freshMs = 10_000;
/** Requests for missing metrics refresh the catalogue at most this often. */
const againMs = 1000;
const maxNames = 500_000;
const maxHelp = 1000;
/** What may follow the unit in a name. */
const suffixes = /_(?:total|bucket|sum|count|created|info|max|min)$/;
const units = new Set(
  "seconds milliseconds microseconds nanoseconds minutes hours days bytes bits ratio percent celsius kelvin volts amperes joules watts grams meters hertz rpm usd eur jpy tokens".split(
    " ",
  ),
);

interface Known {
  readonly atMs: number;
  readonly metrics: ReadonlyMap<string, Metric>;
  readonly hasMetadata: boolean;
}

export function createMetricsCatalogue(api: Api, monotonicMs: () => number, closing: AbortSignal): MetricsCatalogue {
  let known: Known | undefined;
  let loading: Promise<Known> | undefined;

  function load(): Promise<Known> {
    return (loading ??= look().finally(() => {
      loading = undefined;
    }));
  }

  /** Not cancelled by one caller: the result is shared by all who wait for it. */
  async function look(): Promise<Known> {
    const [values, reported] = await Promise.all([
      api.request("label/__name__/values", {}, closing),
      // Names alone are better than nothing.
      api.request("metadata", {}, closing).catch(() => undefined),
    ]);
    const names = textsIn(values.data)
      .filter((name) => name !== "" && name.isWellFormed() && !name.includes("\0"))
      .slice(0, maxNames)
      .sort(compareAddresses);
    const given = isApiObject(reported?.data) ? reported.data : {};
    known = {
      atMs: monotonicMs(),
      metrics: new Map(names.map((name) => [name, describe(name, given)])),
      hasMetadata: reported !== undefined,
    };
    return known;
  }

  async function metrics(olderMs: number, signal: AbortSignal): Promise<Known["metrics"]> {
    if (known && monotonicMs() - known.atMs < olderMs) return known.metrics;
    const loaded = await unlessAborted(load(), signal, cancelled);
    return loaded.metrics;
  }

  return {
    get hasMetadata() {
      return known?.hasMetadata ?? true;
    },
    async all(signal) {
      return [...(await metrics(freshMs, signal)).values()];
    },
    async find(name, signal) {
      const found = (await metrics(freshMs, signal)).get(name);
      return found ?? (await metrics(againMs, signal)).get(name);
    },
  };
}

function describe(name: string, given: Readonly<Record<string, unknown>>): Metric {
  const stem = name.replace(/_(?:total|bucket|sum|count|created)$/, "");
  const own = entryIn(given, name) ?? (stem === name ? undefined : entryIn(given, stem));
  const type = own?.["type"];
  const help = own?.["help"];
  const unit = textOr(own?.["unit"]) ?? unitIn(name);
  return {
    name,
    ...(typeof type === "string" && type !== "" && type !== "unknown" && { type: type.slice(0, 40) }),
    ...(typeof help === "string" && help !== "" && { help: help.slice(0, maxHelp).toWellFormed() }),
    unit,
  };
}

function entryIn(
  given: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> | undefined {
  const entries = Object.hasOwn(given, name) ? given[name] : undefined;
  const first: unknown = Array.isArray(entries) ? entries[0] : undefined;
  return isApiObject(first) ? first : undefined;
}

function textOr(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, 40) : undefined;
}

/** By convention a name ends in its unit; counts have none. */
function unitIn(name: string): string | undefined {
  if (name.endsWith("_count")) return undefined;
  let rest = name;
  for (let cut = rest.replace(suffixes, ""); cut !== rest; cut = rest.replace(suffixes, "")) rest = cut;
  const last = rest.slice(rest.lastIndexOf("_") + 1);
  return units.has(last) ? last : undefined;
}
