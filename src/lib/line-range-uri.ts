/** Line ranges in URIs, as in `?lines=10-40`. */

/** First and last line, from 1, both included. `last` is infinite for an open range. */
export type Lines = readonly [first: number, last: number];

const parameter = /[?&]lines=(\d{1,15})-(\d{0,15})(?:&|$)/;

/** The lines that a URI names, if any. */
export function linesOf(uri: string): Lines | undefined {
  const found = parameter.exec(split(uri).address);
  if (!found) return undefined;
  const first = Number(found[1]);
  const last = found[2] === "" ? Infinity : Number(found[2]);
  return first < 1 || last < first ? undefined : [first, last];
}

/** Only these lines of the resource. Replaces another range, and keeps other parameters. */
export function withLines(uri: string, [first, last]: Lines): string {
  const { address, fragment } = split(withoutLines(uri));
  const range = `lines=${first}-${last === Infinity ? "" : last}`;
  return `${address}${address.includes("?") ? "&" : "?"}${range}${fragment}`;
}

/** The whole resource. */
export function withoutLines(uri: string): string {
  const { address, fragment } = split(uri);
  // The parameter after it takes over its "?" or "&".
  return (
    address.replace(/([?&])lines=\d{1,15}-\d{0,15}(&|$)/, (_, mark: string, next) => (next === "" ? "" : mark)) +
    fragment
  );
}

function split(uri: string): { readonly address: string; readonly fragment: string } {
  const at = uri.indexOf("#");
  return at < 0 ? { address: uri, fragment: "" } : { address: uri.slice(0, at), fragment: uri.slice(at) };
}
