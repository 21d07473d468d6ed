/** Values over time as lines. The values at one moment are shown by pointing at it, or with the arrow keys. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Language } from "../texts.ts";
import { gapsOf, plotPath } from "./plot-path.ts";
import { type Scale, scaleOf, ticksOf, timeFormatOf, timeTicksOf } from "./scale.ts";
import type { PlotSeries } from "./series.ts";

interface PlotProps {
  readonly series: readonly PlotSeries[];
  readonly language: Language;
}

/** Further series are drawn on request. */
const drawnAtFirst = 10;
const maxSeries = 100;
const colours = 8;
const height = 260;
const margin = { left: 64, right: 16, top: 12, bottom: 28 };

export default function Plot({ series: all, language: { texts, code } }: PlotProps) {
  const series = useMemo(() => all.slice(0, maxSeries), [all]);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(
    () => new Set(series.slice(drawnAtFirst).map(({ label }) => label)),
  );
  const [at, setAt] = useState<number>();
  const [box, width] = useWidth();
  const drawn = series.filter(({ label }) => !hidden.has(label));
  const times = useMemo(() => timesOf(drawn), [series, hidden]);
  const value = useMemo(() => scaleOf(drawn.flatMap(({ points }) => points.map(([, each]) => each))), [series, hidden]);
  const [first = 0, last = 1] = [times[0], times.at(-1)];
  const time: Scale = { from: first, to: Math.max(last, first + 1) };
  const x = (atMs: number): number =>
    margin.left + ((atMs - time.from) / (time.to - time.from)) * (width - margin.left - margin.right);
  const y = (each: number): number =>
    height - margin.bottom - ((each - value.from) / (value.to - value.from)) * (height - margin.top - margin.bottom);
  // Memoised: they do not change while the pointer moves.
  const lines = useMemo(
    () =>
      series.map(
        ({ label, points }, order) =>
          !hidden.has(label) && (
            <path key={order} class={lineOf(order)} d={plotPath(points, gapsOf(points), { x, y, width })} />
          ),
      ),
    [series, hidden, width],
  );
  const number = new Intl.NumberFormat(code, { maximumSignificantDigits: 6 });
  const moment = new Intl.DateTimeFormat(code, { dateStyle: "medium", timeStyle: "medium" });
  const tick = timeFormatOf(time, code);
  const index = at === undefined ? undefined : Math.min(at, times.length - 1);
  const pointed = index === undefined ? undefined : times[index];

  function onKeyDown(event: KeyboardEvent): void {
    const from = index ?? (event.key === "ArrowLeft" ? times.length : -1);
    const page = Math.max(1, Math.round(times.length / 10));
    const wanted: Readonly<Record<string, number>> = {
      ArrowLeft: from - 1,
      ArrowRight: from + 1,
      ArrowDown: from - 1,
      ArrowUp: from + 1,
      PageDown: from - page,
      PageUp: from + page,
      Home: 0,
      End: times.length - 1,
    };
    const to = wanted[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(times.length - 1, to)));
  }

  function onPointer(event: PointerEvent): void {
    const left = (event.currentTarget as Element).getBoundingClientRect().left;
    const share = (event.clientX - left - margin.left) / (width - margin.left - margin.right);
    setAt(nearest(times, (each) => each, time.from + share * (time.to - time.from)));
  }

  const said = drawn.map((each) => `${each.label}: ${saidAt(each)}`).join("; ");
  return (
    <figure class="plot">
      <div
        class="plot-area"
        ref={box}
        tabIndex={0}
        role="slider"
        aria-label={texts.shown.plot(series.length)}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={index ?? 0}
        aria-valuetext={pointed === undefined ? texts.shown.plotHint : `${moment.format(pointed)}: ${said}`}
        onKeyDown={onKeyDown}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onPointerLeave={(event) => !event.currentTarget.matches(":focus") && setAt(undefined)}
      >
        <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
          {ticksOf(value, 5).map((each) => (
            <g key={each} class="axis">
              <line x1={margin.left} x2={width - margin.right} y1={y(each)} y2={y(each)} />
              <text x={margin.left - 8} y={y(each) + 4} text-anchor="end">
                {number.format(each)}
              </text>
            </g>
          ))}
          {timeTicksOf(time, Math.max(2, Math.floor(width / 130))).map((each) => (
            <g key={each} class="axis">
              <line x1={x(each)} x2={x(each)} y1={height - margin.bottom} y2={height - margin.bottom + 5} />
              <text x={x(each)} y={height - 8} text-anchor="middle">
                {tick.format(each)}
              </text>
            </g>
          ))}
          {lines}
          {pointed !== undefined && (
            <g class="pointed">
              <line x1={x(pointed)} x2={x(pointed)} y1={margin.top} y2={height - margin.bottom} />
              {series.map((each, order) => {
                const found = hidden.has(each.label) ? undefined : valueAt(each, pointed);
                return found === undefined ? null : (
                  <circle key={order} class={lineOf(order)} cx={x(pointed)} cy={y(found)} r="3.5" />
                );
              })}
            </g>
          )}
        </svg>
      </div>
      <figcaption>
        <p class="moment">{pointed === undefined ? texts.shown.plotHint : moment.format(pointed)}</p>
        <ul class="legend">
          {series.map((each, order) => (
            <li key={`${order} ${each.label}`}>
              <button type="button" aria-pressed={!hidden.has(each.label)} onClick={() => toggle(each.label)}>
                <svg viewBox="0 0 24 10" width="24" height="10" aria-hidden="true">
                  <path class={lineOf(order)} d="M0 5H24" />
                </svg>
                {each.label}
                {pointed !== undefined && !hidden.has(each.label) && <b>{saidAt(each)}</b>}
              </button>
            </li>
          ))}
        </ul>
        {all.length > series.length && <p class="quiet">{texts.shown.notAllSeries(series.length, all.length)}</p>}
      </figcaption>
    </figure>
  );

  function saidAt(each: PlotSeries): string {
    const found = pointed === undefined ? undefined : valueAt(each, pointed);
    return found === undefined ? "–" : number.format(found);
  }

  function toggle(label: string): void {
    const next = new Set(hidden);
    if (!next.delete(label)) next.add(label);
    setHidden(next);
  }
}

/** A colour, and a dash pattern where colours repeat. */
function lineOf(order: number): string {
  return `series series-${order % colours} dash-${Math.floor(order / colours) % 4}`;
}

function timesOf(series: readonly PlotSeries[]): readonly number[] {
  const all = new Set(series.flatMap(({ points }) => points.map(([atMs]) => atMs)));
  return [...all].toSorted((one, other) => one - other);
}

/** Index of the nearest item in a list sorted by time. */
function nearest<T>(sorted: readonly T[], timeOf: (each: T) => number, wanted: number): number {
  const at = (index: number, otherwise: number): number => {
    const each = sorted[index];
    return each === undefined ? otherwise : timeOf(each);
  };
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(middle, 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, wanted - at(low - 1, -Infinity) < at(low, Infinity) - wanted ? low - 1 : low);
}

function valueAt({ points }: PlotSeries, atMs: number): number | undefined {
  const found = points[nearest(points, ([each]) => each, atMs)];
  return found?.[0] === atMs && Number.isFinite(found[1]) ? found[1] : undefined;
}

function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useEffect(() => {
    if (!box.current) return undefined;
    const observer = new ResizeObserver(
      ([entry]) => entry && setWidth(Math.max(240, Math.round(entry.contentRect.width))),
    );
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return [box, width] as const;
}
