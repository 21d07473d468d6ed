/** Completes the variables of the templates: names of metrics, names of labels, and their values. */
import { pathOf } from "../../source.ts";
import type { SourceCompletionRequest, Suggestion } from "../../source.ts";
import { type Api, textsIn } from "./api.ts";
import {
  aggregations,
  metricsFormats,
  overTime,
  parseCondition,
  queryTemplate,
  seriesTemplate,
  formatCondition,
  splitConditions,
} from "./metrics-request.ts";
import type { MetricsCatalogue } from "./catalogue.ts";
import type { LabelMasking } from "./label-masking.ts";
import { quotedParts, typedAt } from "./promql.ts";

interface MetricsCompletionContext {
  readonly api: Api;
  readonly catalogue: MetricsCatalogue;
  readonly redaction: LabelMasking;
  readonly now: () => number;
}

const most = 100;
/** Labels and values within this time are suggested. */
const lookBackMs = 60 * 60 * 1000;
const lengths = ["15m", "1h", "6h", "1d", "7d", "30d"];
const steps = ["15s", "1m", "5m", "15m", "1h", "1d"];

export async function complete(
  request: SourceCompletionRequest,
  completing: MetricsCompletionContext,
  signal: AbortSignal,
): Promise<readonly Suggestion[]> {
  const { template, variable, value, given } = request;
  const isSeries = template.template === seriesTemplate;
  if (!isSeries && template.template !== queryTemplate) return [];
  switch (variable) {
    case "range":
      return beginning(lengths, value);
    case "step":
      return beginning(steps, value);
    case "format":
      return beginning(metricsFormats, value);
  }
  if (!isSeries) return variable === "promql" ? completeQuestion(value, completing, signal) : [];
  const name = given["name"] ?? "";
  switch (variable) {
    case "name":
      return (await metricNames(value, completing, signal)).map((each) => ({ value: each, reveals: revealed(each) }));
    case "agg":
      return beginning([...aggregations, ...overTime, "p50", "p90", "p95", "p99", "sum.rate", "avg.rate"], value);
    case "by":
      return completeBy(value, name, completing, signal);
    case "where":
      return completeWhere(value, name, completing, signal);
    default:
      return [];
  }
}

function beginning(values: readonly string[], typed: string): Suggestion[] {
  return values.filter((each) => each.startsWith(typed)).map((value) => ({ value }));
}

function revealed(name: string) {
  return { path: pathOf(["series", name]) };
}

/** Names with this prefix first, then names that contain it. */
async function metricNames(
  typed: string,
  { catalogue }: MetricsCompletionContext,
  signal: AbortSignal,
): Promise<string[]> {
  const names = (await catalogue.all(signal)).map(({ name }) => name);
  const wanted = typed.toLowerCase();
  const first = names.filter((name) => name.toLowerCase().startsWith(wanted));
  const later = names.filter((name) => name.toLowerCase().indexOf(wanted) > 0);
  return [...first, ...later].slice(0, most);
}

async function completeBy(value: string, name: string, completing: MetricsCompletionContext, signal: AbortSignal) {
  const comma = value.lastIndexOf(",") + 1;
  const settled = value.slice(0, comma);
  const taken = new Set(settled.split(","));
  const labels = await labelNames(name, value.slice(comma), completing, signal);
  return labels
    .filter((label) => !taken.has(label))
    .map((label) => ({ value: settled + label, ...(name !== "" && { reveals: revealed(name) }) }));
}

async function completeWhere(value: string, name: string, completing: MetricsCompletionContext, signal: AbortSignal) {
  const conditions = splitConditions(value);
  const last = conditions.pop() ?? "";
  const settled = conditions.flatMap((each) => parseCondition(each) ?? []).map((each) => `${formatCondition(each)},`);
  const condition = parseCondition(last);
  const found = condition
    ? (await labelValues(name, condition.label, condition.value, completing, signal)).map((each) =>
        formatCondition({ ...condition, value: each }),
      )
    : (await labelNames(name, last, completing, signal)).map((label) => `${label}=`);
  return found.map((each) => ({
    value: settled.join("") + each,
    ...(name !== "" && { reveals: revealed(name) }),
  }));
}

async function completeQuestion(
  value: string,
  completing: MetricsCompletionContext,
  signal: AbortSignal,
): Promise<Suggestion[]> {
  const typed = typedAt(value);
  if (!typed) return [];
  const settled = value.slice(0, typed.start);
  if (typed.wants === "metric") {
    // All names would be no help.
    if (typed.typed === "") return [];
    const names = await metricNames(typed.typed, completing, signal);
    return names.map((name) => ({
      value: settled + (/^[A-Za-z_:][\w:]*$/.test(name) ? name : `{__name__=${quotedParts(name)}}`),
      reveals: revealed(name),
    }));
  }
  const { metric } = typed;
  const reveals = metric === "" ? {} : { reveals: revealed(metric) };
  const found =
    typed.wants === "label"
      ? (await labelNames(metric, typed.typed, completing, signal)).filter((each) => /^[A-Za-z_]\w*$/.test(each))
      : (await labelValues(metric, typed.label, typed.typed, completing, signal)).map((each) => `${inside(each)}"`);
  return found.map((each) => ({ value: settled + each, ...reveals }));
}

function inside(value: string): string {
  return quotedParts(value).slice(1, -1);
}

function lately(name: string, { now }: MetricsCompletionContext) {
  const end = now();
  return {
    start: String(Math.floor((end - lookBackMs) / 1000)),
    end: String(Math.ceil(end / 1000)),
    ...(name !== "" && { "match[]": `{__name__=${quotedParts(name)}}` }),
  };
}

async function labelNames(
  name: string,
  typed: string,
  completing: MetricsCompletionContext,
  signal: AbortSignal,
): Promise<string[]> {
  const { api, redaction } = completing;
  const { data } = await api.request("labels", lately(name, completing), signal);
  return textsIn(data)
    .filter((label) => label !== "__name__" && label.startsWith(typed) && redaction.maySee(label))
    .slice(0, most);
}

/** Personal values are not suggested. */
async function labelValues(
  name: string,
  label: string,
  typed: string,
  completing: MetricsCompletionContext,
  signal: AbortSignal,
): Promise<string[]> {
  const { api, redaction } = completing;
  // Other names are not valid in the path of every server.
  if (!/^[A-Za-z_]\w*$/.test(label) || !redaction.maySee(label)) return [];
  const { data } = await api.request(`label/${label}/values`, lately(name, completing), signal);
  return textsIn(data)
    .filter((value) => value.startsWith(typed) && redaction.cleanValue(label, value) === value)
    .slice(0, most);
}
