/** Parses refs given by callers: a name that git allows, and steps back from it. Nothing else ever reaches git. */

export interface ParsedRef {
  readonly name: string;
  /** `~3^2` */
  readonly steps: string;
}

const maxLength = 1024;
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$/;

/** Whether git allows a ref of this name. */
export function isRefName(name: string): boolean {
  if (name === "" || name.length > maxLength || forbidden.test(name) || !name.isWellFormed()) return false;
  return name.split("/").every((part) => !part.startsWith(".") && !part.endsWith(".lock"));
}

/** Undefined for anything but the name of a branch, a tag, a remote branch, a full ref or a hash, with steps back. */
export function parseRef(ref: string): ParsedRef | undefined {
  if (ref.length > maxLength) return undefined;
  // Names cannot contain these characters.
  const first = ref.search(/[~^]/);
  const steps = first < 0 ? "" : ref.slice(first);
  if (!/^(?:[~^]\d{0,6})*$/.test(steps)) return undefined;
  const name = ref.slice(0, ref.length - steps.length);
  if (name === "@") return { name: "HEAD", steps };
  return isRefName(name) ? { name, steps } : undefined;
}

/** Whether this is a full hash, which is never ambiguous. */
export function isHash(text: string, length: number): boolean {
  return text.length === length && /^[0-9a-f]+$/.test(text);
}
