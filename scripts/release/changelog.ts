/** The newest section of the changelog becomes that of a version. */

/** `## Unreleased`, or a version without a date, becomes `## 1.2.3 (2026-11-20)`. Throws if there is nothing to release. */
export function closeSection(text: string, version: string, date: string): string {
  const heading = /^## (.+)$/m.exec(text);
  if (!heading) throw new Error("CHANGELOG.md: has no section");
  const [line, name = ""] = heading;
  if (/\(\d{4}-\d\d-\d\d\)/.test(name))
    throw new Error(`CHANGELOG.md: the newest section, ${name}, is released; write what is new below "## Unreleased"`);
  const from = heading.index + line.length;
  const entries = text.slice(from, text.indexOf("\n## ", from) < 0 ? undefined : text.indexOf("\n## ", from));
  if (!/^- /m.test(entries)) throw new Error(`CHANGELOG.md: the section ${name} is empty`);
  return `${text.slice(0, heading.index)}## ${version} (${date})${text.slice(from)}`;
}
