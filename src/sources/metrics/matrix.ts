/** Series over a range, no more of them and no more points than there is room for. */
import { quote, ResourceError } from "../../errors.ts";
import type { Api } from "./api.ts";
import { isApiObject } from "./api.ts";
import type { MetricsRequest } from "./metrics-request.ts";
import type { LabelMasking, Labels } from "./label-masking.ts";
import { chooseStep, pointsIn, type Span, formatDuration } from "./times.ts";

/** Seconds since the epoch, and a number as the server spells it. */
export type SamplePoint = readonly [seconds: number, value: string];

export interface SampleSeries {
  readonly metric: Labels;
  readonly values: readonly SamplePoint[];
  /** Values of the newer kind that hold a histogram each, as the server spells them. */
  readonly histograms?: readonly unknown[];
}

export interface Matrix {
  /** Their labels as they may be shown. */
  readonly series: readonly SampleSeries[];
  readonly span: Span;
  readonly stepMs: number;
  readonly points: number;
  readonly expression: string;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

export interface Budget {
  readonly maxSeries: number;
  readonly maxPoints: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Before the points are asked for, it is counted how many series there are at so many times. */
const looks = 8;

export async function askMatrix(
  api: Api,
  ask: MetricsRequest,
  budget: Budget,
  redaction: LabelMasking,
  signal: AbortSignal,
): Promise<Matrix> {
  const { startMs, endMs } = ask.span;
  const spanMs = endMs - startMs;
  const finest = chooseStep(spanMs, budget.maxPoints, budget.intervalMs);
  const room = budget.maxPoints / budget.maxSeries;
  // Where even the most series have room, there is nothing to count.
  const isRoomy = pointsIn(spanMs, ask.stepMs ?? finest) <= room;
  const counted = isRoomy ? 1 : Math.max(1, await countSeries(api, ask, budget, signal));
  refuseMany(counted, ask, budget);
  const stepMs =
    ask.stepMs ?? (isRoomy ? finest : chooseStep(spanMs, Math.floor(budget.maxPoints / counted), budget.intervalMs));
  if (ask.stepMs !== undefined) refuseFine(counted, ask, budget);

  const expression = ask.expression(stepMs);
  const { data, warnings, infos } = await askRange(api, expression, ask.span, stepMs, budget, signal);
  const found = seriesIn(data);
  refuseMany(found.length, ask, budget);
  const points = countPoints(found);
  // Series that came and went between the looks were not counted.
  const every = Math.ceil(points / budget.maxPoints);
  if (every > 1 && ask.stepMs !== undefined) refuseFine(found.length, ask, budget);
  const thinned = every > 1 ? found.map((each) => thin(each, endMs / 1000, stepMs, every)) : found;
  return {
    series: thinned.map(({ metric, ...rest }) => ({ metric: redaction.clean(metric), ...rest })),
    span: ask.span,
    stepMs: stepMs * Math.max(1, every),
    points: every > 1 ? countPoints(thinned) : points,
    expression,
    warnings,
    infos,
  };
}

/** The newest point is now, however far apart they are. */
function askRange(
  api: Api,
  expression: string,
  { startMs, endMs }: Span,
  stepMs: number,
  { timeoutMs }: Budget,
  signal: AbortSignal,
) {
  const firstMs = endMs - Math.floor((endMs - startMs) / stepMs) * stepMs;
  return api.ask(
    "query_range",
    {
      query: expression,
      start: String(firstMs / 1000),
      end: String(endMs / 1000),
      step: String(stepMs / 1000),
      timeout: `${timeoutMs}ms`,
    },
    signal,
  );
}

async function countSeries(api: Api, ask: MetricsRequest, budget: Budget, signal: AbortSignal): Promise<number> {
  const { startMs, endMs } = ask.span;
  const stepMs = Math.max(1000, Math.ceil((endMs - startMs) / looks));
  // On lines of their own: a comment at its end must not swallow what follows.
  const counting = `count((\n${ask.expression(Math.max(stepMs, budget.intervalMs))}\n))`;
  try {
    const { data } = await askRange(api, counting, ask.span, stepMs, budget, signal);
    const [counts] = seriesIn(data);
    return (counts?.values ?? []).reduce((most, [, value]) => Math.max(most, Number(value) || 0), 0);
  } catch (cause) {
    // A number has no series to count; what else is wrong with the question is said of the question itself.
    if (cause instanceof ResourceError && cause.kind === "invalid") return 1;
    throw cause;
  }
}

function refuseMany(count: number, ask: MetricsRequest, { maxSeries }: Budget): void {
  if (count <= maxSeries) return;
  throw new ResourceError(
    "too-large",
    `${quote(ask.title)} has ${count} series, and ${maxSeries} are given at once; ${ask.narrower}`,
    { details: { reason: "too-large", series: count, limit: maxSeries, template: ask.template } },
  );
}

function refuseFine(series: number, ask: MetricsRequest, budget: Budget): void {
  const spanMs = ask.span.endMs - ask.span.startMs;
  const points = pointsIn(spanMs, ask.stepMs ?? spanMs) * series;
  if (points <= budget.maxPoints) return;
  const enough = formatDuration(chooseStep(spanMs, Math.floor(budget.maxPoints / series), budget.intervalMs));
  throw new ResourceError(
    "too-large",
    `${points} points are more than the ${budget.maxPoints} that are given at once; ask with step=${enough}, or for a shorter range`,
    {
      details: {
        reason: "too-large",
        points,
        limit: budget.maxPoints,
        template: ask.template,
        ranges: [`${ask.again}${ask.again === "" ? "" : "&"}step=${enough}`],
      },
    },
  );
}

/** What no server would say is not passed on. */
function seriesIn(data: unknown): SampleSeries[] {
  const result = isApiObject(data) ? data["result"] : undefined;
  if (!Array.isArray(result) || (data as Record<string, unknown>)["resultType"] !== "matrix")
    throw new ResourceError("unavailable", "the metrics server did not answer with series", { passing: false });
  return result.flatMap((each: unknown): SampleSeries[] => {
    if (!isApiObject(each)) return [];
    const values = Array.isArray(each["values"]) ? (each["values"] as readonly unknown[]) : [];
    const isSound = values.every(isPoint);
    const histograms = Array.isArray(each["histograms"]) ? (each["histograms"] as readonly unknown[]) : [];
    return [
      {
        metric: labelsIn(each["metric"]),
        values: isSound ? (values as readonly SamplePoint[]) : values.filter(isPoint),
        ...(histograms.length > 0 && { histograms }),
      },
    ];
  });
}

function isPoint(value: unknown): value is SamplePoint {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "number" && typeof value[1] === "string";
}

export function labelsIn(value: unknown): Labels {
  if (!isApiObject(value)) return {};
  const labels: Record<string, string> = {};
  for (const [label, said] of Object.entries(value)) if (typeof said === "string") labels[label] = said.toWellFormed();
  return labels;
}

function countPoints(series: readonly SampleSeries[]): number {
  return series.reduce((sum, { values, histograms = [] }) => sum + values.length + histograms.length, 0);
}

/** What a step that is so many times as long would have given. */
function thin({ metric, values, histograms }: SampleSeries, end: number, stepMs: number, every: number): SampleSeries {
  const isKept = (seconds: unknown) => Math.round(((end - Number(seconds)) * 1000) / stepMs) % every === 0;
  return {
    metric,
    values: values.filter(([seconds]) => isKept(seconds)),
    ...(histograms && { histograms: histograms.filter((each) => Array.isArray(each) && isKept(each[0])) }),
  };
}

/** A series as PromQL would write it. */
export function metricNameOf({ __name__: name = "", ...labels }: Labels): string {
  const pairs = Object.entries(labels)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  if (pairs.length === 0) return name === "" ? "{}" : name;
  return `${name}{${pairs.join(",")}}`;
}
