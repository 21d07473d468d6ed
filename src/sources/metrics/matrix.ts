/** Reads series over a range, within the limits of series and points. */
import { lastingFailure, quote, ResourceError } from "../../errors.ts";
import type { Api } from "./api.ts";
import { isApiObject } from "./api.ts";
import type { MetricsRequest } from "./metrics-request.ts";
import type { LabelMasking, Labels } from "./label-masking.ts";
import { chooseStep, pointsIn, type Span, formatDuration } from "./times.ts";

/** Seconds since the epoch, and a number as the server writes it. */
type SamplePoint = readonly [seconds: number, value: string];

export interface SampleSeries {
  readonly metric: Labels;
  readonly values: readonly SamplePoint[];
  /** Native histogram values, as the server writes them. */
  readonly histograms?: readonly unknown[];
}

export interface Matrix {
  /** With masked labels. */
  readonly series: readonly SampleSeries[];
  readonly span: Span;
  readonly stepMs: number;
  readonly points: number;
  readonly expression: string;
  readonly warnings: readonly string[];
  readonly infos: readonly string[];
}

interface Budget {
  readonly maxSeries: number;
  readonly maxPoints: number;
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Series are counted at this many times before the points are requested. */
const looks = 8;

export async function readMatrix(
  api: Api,
  request: MetricsRequest,
  budget: Budget,
  redaction: LabelMasking,
  signal: AbortSignal,
): Promise<Matrix> {
  const { startMs, endMs } = request.span;
  const spanMs = endMs - startMs;
  const finest = chooseStep(spanMs, budget.maxPoints, budget.intervalMs);
  const room = budget.maxPoints / budget.maxSeries;
  // If even the most series fit, counting is not needed.
  const isRoomy = pointsIn(spanMs, request.stepMs ?? finest) <= room;
  const counted = isRoomy ? 1 : Math.max(1, await countSeries(api, request, budget, signal));
  refuseMany(counted, request, budget);
  const stepMs =
    request.stepMs ??
    (isRoomy ? finest : chooseStep(spanMs, Math.floor(budget.maxPoints / counted), budget.intervalMs));
  if (request.stepMs !== undefined) refuseFine(counted, request, budget);

  const expression = request.expression(stepMs);
  const { data, warnings, infos } = await askRange(api, expression, request.span, stepMs, budget, signal);
  const found = seriesIn(data);
  refuseMany(found.length, request, budget);
  const points = countPoints(found);
  // Series that existed only between the counted times are missing in the count.
  const every = Math.ceil(points / budget.maxPoints);
  if (every > 1 && request.stepMs !== undefined) refuseFine(found.length, request, budget);
  const thinned = every > 1 ? found.map((each) => thin(each, endMs / 1000, stepMs, every)) : found;
  return {
    series: thinned.map(({ metric, ...rest }) => ({ metric: redaction.clean(metric), ...rest })),
    span: request.span,
    stepMs: stepMs * Math.max(1, every),
    points: every > 1 ? countPoints(thinned) : points,
    expression,
    warnings,
    infos,
  };
}

/** The newest point is at the end of the range, whatever the step. */
function askRange(
  api: Api,
  expression: string,
  { startMs, endMs }: Span,
  stepMs: number,
  { timeoutMs }: Budget,
  signal: AbortSignal,
) {
  const firstMs = endMs - Math.floor((endMs - startMs) / stepMs) * stepMs;
  return api.request(
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

async function countSeries(api: Api, request: MetricsRequest, budget: Budget, signal: AbortSignal): Promise<number> {
  const { startMs, endMs } = request.span;
  const stepMs = Math.max(1000, Math.ceil((endMs - startMs) / looks));
  // On separate lines: a comment at the end of the expression must not hide what follows.
  const counting = `count((\n${request.expression(Math.max(stepMs, budget.intervalMs))}\n))`;
  try {
    const { data } = await askRange(api, counting, request.span, stepMs, budget, signal);
    const [counts] = seriesIn(data);
    return (counts?.values ?? []).reduce((most, [, value]) => Math.max(most, Number(value) || 0), 0);
  } catch (cause) {
    // A scalar has no series to count; other errors are reported by the query itself.
    if (cause instanceof ResourceError && cause.kind === "invalid") return 1;
    throw cause;
  }
}

function refuseMany(count: number, request: MetricsRequest, { maxSeries }: Budget): void {
  if (count <= maxSeries) return;
  throw new ResourceError(
    "too-large",
    `${quote(request.title)} has ${count} series; the limit is ${maxSeries}; ${request.narrower}`,
    { details: { reason: "too-large", series: count, limit: maxSeries, template: request.template } },
  );
}

function refuseFine(series: number, request: MetricsRequest, budget: Budget): void {
  const spanMs = request.span.endMs - request.span.startMs;
  const points = pointsIn(spanMs, request.stepMs ?? spanMs) * series;
  if (points <= budget.maxPoints) return;
  const enough = formatDuration(chooseStep(spanMs, Math.floor(budget.maxPoints / series), budget.intervalMs));
  throw new ResourceError(
    "too-large",
    `${points} points exceed the limit of ${budget.maxPoints}; use step=${enough}, or a shorter range`,
    {
      details: {
        reason: "too-large",
        points,
        limit: budget.maxPoints,
        template: request.template,
        ranges: [`${request.again}${request.again === "" ? "" : "&"}step=${enough}`],
      },
    },
  );
}

/** Drops invalid data. */
function seriesIn(data: unknown): SampleSeries[] {
  const result = isApiObject(data) ? data["result"] : undefined;
  if (!Array.isArray(result) || (data as Record<string, unknown>)["resultType"] !== "matrix")
    throw lastingFailure("the metrics server returned no series");
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
  for (const [label, given] of Object.entries(value))
    if (typeof given === "string") labels[label] = given.toWellFormed();
  return labels;
}

function countPoints(series: readonly SampleSeries[]): number {
  return series.reduce((sum, { values, histograms = [] }) => sum + values.length + histograms.length, 0);
}

/** The points that a step this many times longer would have given. */
function thin({ metric, values, histograms }: SampleSeries, end: number, stepMs: number, every: number): SampleSeries {
  const isKept = (seconds: unknown) => Math.round(((end - Number(seconds)) * 1000) / stepMs) % every === 0;
  return {
    metric,
    values: values.filter(([seconds]) => isKept(seconds)),
    ...(histograms && { histograms: histograms.filter((each) => Array.isArray(each) && isKept(each[0])) }),
  };
}

/** A series in PromQL notation. */
export function metricNameOf({ __name__: name = "", ...labels }: Labels): string {
  const pairs = Object.entries(labels)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  if (pairs.length === 0) return name === "" ? "{}" : name;
  return `${name}{${pairs.join(",")}}`;
}
