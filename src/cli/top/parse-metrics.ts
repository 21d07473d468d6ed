/** Reads the text that `/metrics` of a server sends: https://prometheus.io/docs/instrumenting/exposition_formats/ */

export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples by name. */
export type MetricSamples = ReadonlyMap<string, readonly MetricSample[]>;

/** Lines that are no samples are ignored. */
export function parseMetrics(text: string): MetricSamples {
  const samples = new Map<string, MetricSample[]>();
  for (const line of text.split("\n")) {
    const space = line.lastIndexOf(" ");
    if (line.startsWith("#") || space <= 0) continue;
    const value = Number(line.slice(space + 1));
    if (Number.isNaN(value)) continue;
    const brace = line.indexOf("{");
    const hasLabels = brace >= 0 && brace < space;
    const name = line.slice(0, hasLabels ? brace : space);
    const sample = { labels: hasLabels ? labelsOf(line.slice(brace + 1, space)) : {}, value };
    const known = samples.get(name);
    if (known) known.push(sample);
    else samples.set(name, [sample]);
  }
  return samples;
}

/** Values of this server contain no quotation mark. */
function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = Object.create(null);
  for (const [, name = "", value = ""] of text.matchAll(/\b([a-z]\w{0,63})="([^"]*)"/g)) labels[name] = value;
  return labels;
}
