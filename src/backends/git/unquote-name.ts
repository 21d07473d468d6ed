/** Decodes a name that git prints in quotes, with escaped bytes. */
export function unquoteName(name: string): string {
  if (!name.startsWith('"') || !name.endsWith('"')) return name;
  const bytes = name
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
      /^[0-7]{3}$/.test(escaped) ? String.fromCharCode(Number.parseInt(escaped, 8)) : (escapes[escaped] ?? escaped),
    );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };
