/** Replaces code within a line of Markdown: between two runs of backticks of the same length. */
export function replaceCodeSpans(line: string, replace: (code: string) => string): string {
  if (!line.includes("`")) return line;
  const runs = [...line.matchAll(/`+/g)];
  /** For each run, the next one of the same length. */
  const closing: (number | undefined)[] = [];
  const nearest = new Map<number, number>();
  for (let at = runs.length - 1; at >= 0; at -= 1) {
    const { length } = runs[at]![0];
    closing[at] = nearest.get(length);
    nearest.set(length, at);
  }
  let replaced = "";
  let end = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const close = closing[at];
    if (close === undefined) continue;
    const { 0: mark, index } = runs[at]!;
    const { index: last } = runs[close]!;
    replaced += line.slice(end, index) + replace(line.slice(index + mark.length, last));
    end = last + mark.length;
    at = close;
  }
  return replaced + line.slice(end);
}
