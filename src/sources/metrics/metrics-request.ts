/** Parses a request for a series or a PromQL query into an unambiguous expression. */
import { invalid, notFound, quote } from "../../errors.ts";
import type { Address } from "../../source.ts";
import type { LabelMasking } from "./label-masking.ts";
import { eachLabel, quotedParts, formatLabel } from "./promql.ts";
import { parseDuration, parseTimeRange, type Span, formatDuration } from "./times.ts";

export type MetricsFormat = "json" | "csv" | "svg";

export interface MetricsRequest {
  /** The expression for a given step. */
  expression(stepMs: number): string;
  readonly span: Span;
  /** Undefined: chosen from the limit of points. */
  readonly stepMs: number | undefined;
  readonly format: MetricsFormat;
  /** Its name in errors. */
  readonly title: string;
  /** The title of a plot. */
  readonly heading: string;
  /** The unit of the result, compared with the unit of the metric. */
  readonly unit: "same" | "per second" | "none";
  /** The query of the address without its step, to be used again. */
  readonly again: string;
  /** How to request fewer series. */
  readonly narrower: string;
  /** The template of the address. */
  readonly template: string;
}

interface MetricsRequestContext {
  readonly nowMs: number;
  /** Default range. */
  readonly range: string;
  /** How often samples are taken. */
  readonly intervalMs: number;
  readonly redaction: LabelMasking;
}

const seriesParameters = ["range", "step", "agg", "by", "where", "format"] as const;
const queryParameters = ["promql", "range", "step", "format"] as const;
export const metricsFormats: readonly MetricsFormat[] = ["json", "csv", "svg"];
export const aggregations = ["sum", "avg", "min", "max", "count", "stddev", "group"] as const;
export const overTime = ["rate", "increase", "delta", "deriv"] as const;
export const seriesTemplate = `series/{name}{?${seriesParameters.join(",")}}`;
export const queryTemplate = `query{?${queryParameters.join(",")}}`;
const narrower = "sum them with sum by (label) (…), or select some with topk(10, …)";
const maxMatchers = 20;
const maxGrouping = 20;

/** `isHistogram`: whether its values are buckets or native histograms. */
export function parseSeriesRequest(
  name: string,
  { path, query = {} }: Address,
  isHistogram: boolean,
  asking: MetricsRequestContext,
): MetricsRequest {
  refuseUnknown(query, seriesParameters, path);
  const matchers = parseWhere(query["where"], asking.redaction);
  const by = parseBy(query["by"], asking.redaction);
  const { outer, inner, quantile } = parseAggregation(query["agg"]);
  if (by.length > 0 && outer === undefined && quantile === undefined)
    throw invalid(`by=${quote(query["by"] ?? "", 60)} needs an aggregation for each group, such as agg=sum`);
  const selector = `{${[`__name__=${quotedParts(name)}`, ...matchers].join(",")}}`;
  const isBuckets = isHistogram && quantile !== undefined && inner === undefined;
  return {
    ...common(query, asking),
    title: name,
    heading: headingOf(name, query),
    unit:
      outer === "count" || outer === "group" ? "none" : inner === "rate" || inner === "deriv" ? "per second" : "same",
    template: seriesTemplate,
    narrower: "sum them with agg=sum&by=label, or select with where=label=value",
    expression(stepMs) {
      // A rate needs several samples, and all samples of a step.
      const window = formatDuration(Math.max(stepMs, 4 * asking.intervalMs));
      if (isBuckets) {
        const stored = isBucketName(name) ? ["le", ...by.filter((label) => label !== "le")] : by;
        return `histogram_quantile(${quantile}, ${grouped("sum", stored)} (rate(${selector}[${window}])))`;
      }
      const values = inner === undefined ? selector : `${inner}(${selector}[${window}])`;
      if (quantile !== undefined) return `${grouped("quantile", by)} (${quantile}, ${values})`;
      return outer === undefined ? values : `${grouped(outer, by)} (${values})`;
    },
  };
}

export function parsePromqlRequest({ path, query = {} }: Address, asking: MetricsRequestContext): MetricsRequest {
  refuseUnknown(query, queryParameters, path);
  const promql = query["promql"] ?? "";
  eachLabel(
    promql,
    (label) => refuseHidden(label, asking.redaction),
    (labels) => refuseCopies(labels, asking.redaction),
  );
  return {
    ...common(query, asking),
    title: promql,
    heading: promql,
    unit: "none",
    template: queryTemplate,
    narrower,
    expression: () => promql,
  };
}

function headingOf(name: string, { agg, by, where }: Readonly<Record<string, string>>): string {
  const made = agg ? `${agg}(${name})` : name;
  return [made, ...(by ? [`by ${by}`] : []), ...(where ? [`where ${where}`] : [])].join(" ");
}

export function isBucketName(name: string): boolean {
  return name.endsWith("_bucket");
}

function common(query: Readonly<Record<string, string>>, { range, nowMs }: MetricsRequestContext) {
  const format = query["format"] ?? "json";
  if (!isFormat(format)) throw invalid(`unknown format=${quote(format, 40)}; available: ${metricsFormats.join(", ")}`);
  const { step: _, ...rest } = query;
  return {
    span: parseTimeRange(query["range"] ?? range, nowMs),
    stepMs: query["step"] === undefined ? undefined : parseDuration(query["step"], "step"),
    format,
    again: formatMetricsQuery(rest),
  };
}

function isFormat(text: string): text is MetricsFormat {
  return (metricsFormats as readonly string[]).includes(text);
}

export function formatMetricsQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map((pair) => pair.map(encodeURIComponent).join("="))
    .join("&");
}

/** An unknown parameter addresses another resource, which does not exist. */
export function refuseUnknown(query: Readonly<Record<string, string>>, known: readonly string[], path: string): void {
  if (Object.keys(query).some((name) => !known.includes(name))) throw notFound(path);
}

/** Hidden labels cannot be queried either: results would reveal them. */
function refuseHidden(label: string, { maySee }: LabelMasking): void {
  if (!maySee(label)) throw invalid(`the label ${quote(label, 60)} is hidden here, so it cannot be used in a query`);
}

/** Under another name, an address would be shown. */
function refuseCopies(labels: readonly string[], { isPlain }: LabelMasking): void {
  const plain = labels.find(isPlain);
  if (plain !== undefined && labels.some((label) => label !== plain))
    throw invalid(`no other label can be copied to or from ${quote(plain)}; use another name`);
}

function parseBy(text: string | undefined, redaction: LabelMasking): string[] {
  if (text === undefined || text === "") return [];
  const labels = text.split(",").map((each) => each.trim());
  if (labels.length > maxGrouping) throw invalid(`by= takes at most ${maxGrouping} labels`);
  for (const label of labels) {
    if (label === "" || !label.isWellFormed()) throw invalid(`by=${quote(text, 60)}: separate labels with commas`);
    refuseHidden(label, redaction);
  }
  return labels;
}

interface Aggregation {
  readonly outer?: string;
  readonly inner?: string;
  readonly quantile?: number;
}

/** `sum`, `rate`, `p95`, or two joined with a dot: `sum.rate` is the sum of the rates. */
function parseAggregation(text: string | undefined): Aggregation {
  if (text === undefined || text === "") return {};
  const refuse = () =>
    invalid(
      `unknown agg=${quote(text, 40)}; available: ${[...aggregations, ...overTime].join(", ")}, p1 to p99.9, ` +
        "and one of one: sum.rate is the sum of the rates",
    );
  const inner = overTime.find((each) => text === each || text.endsWith(`.${each}`));
  const first = inner === undefined ? text : text.slice(0, -inner.length - 1);
  if (inner !== undefined && text === inner) return { inner };
  const found = { inner };
  const percent = /^p(\d{1,2}(?:\.\d{1,3})?)$/.exec(first)?.[1];
  if (percent !== undefined) return { ...found, quantile: Number((Number(percent) / 100).toFixed(6)) };
  const outer = aggregations.find((each) => each === first);
  if (outer === undefined) throw refuse();
  return { ...found, outer };
}

function grouped(aggregation: string, by: readonly string[]): string {
  return by.length === 0 ? aggregation : `${aggregation} by (${by.map(formatLabel).join(",")})`;
}

/** `job=node,instance!=a:9100`: values are compared exactly; a comma or backslash in a value is escaped with a backslash. */
function parseWhere(text: string | undefined, redaction: LabelMasking): string[] {
  if (text === undefined || text === "") return [];
  const conditions = splitConditions(text);
  if (conditions.length > maxMatchers) throw invalid(`where= takes at most ${maxMatchers} conditions`);
  return conditions.map((condition) => {
    const { label, sign, value } = parseCondition(condition) ?? {};
    if (label === undefined || sign === undefined || value === undefined)
      throw invalid(`where=${quote(text, 80)}: write label=value, or label!=value, with commas between`);
    refuseHidden(label, redaction);
    if (redaction.cleanValue(label, value) !== value)
      throw invalid(
        `where=${quote(label, 60)}: addresses of people are hidden here, so they cannot be used in a query`,
      );
    if (/^[A-Za-z_]\w*$/.test(label)) return `${label}${sign}${quotedParts(value)}`;
    return `${quotedParts(label)}${sign}${quotedParts(value)}`;
  });
}

interface LabelCondition {
  readonly label: string;
  readonly sign: "=" | "!=";
  readonly value: string;
}

export function parseCondition(text: string): LabelCondition | undefined {
  const equals = text.indexOf("=");
  const isNot = text[equals - 1] === "!";
  const label = text.slice(0, isNot ? equals - 1 : equals).trim();
  if (equals < 1 || label === "" || !text.isWellFormed()) return undefined;
  return { label, sign: isNot ? "!=" : "=", value: text.slice(equals + 1) };
}

/** Splits at unescaped commas, and removes the backslashes. */
export function splitConditions(text: string): string[] {
  const conditions = [""];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === ",") conditions.push("");
    else conditions[conditions.length - 1] += character === "\\" ? (text[(at += 1)] ?? "") : character;
  }
  return conditions;
}

export function formatCondition({ label, sign, value }: LabelCondition): string {
  return `${label}${sign}${value.replaceAll(/[\\,]/g, String.raw`\$&`)}`;
}
