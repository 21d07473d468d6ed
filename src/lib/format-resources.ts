/** Writes the texts of resources as one text for a model: as Markdown or XML. */

export interface ResourceText {
  readonly resource: { readonly uri: string; readonly name: string; readonly mimeType?: string };
  readonly text: string;
}

/** Each under its name and URI, in a fence that its content cannot close. */
export function asMarkdown(all: readonly ResourceText[]): string {
  return all
    .map(({ resource: { name, uri, mimeType }, text }) => {
      const longest = (text.match(/`{3,}/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
      const fence = "`".repeat(longest + 1);
      const language = mimeType === "text/markdown" ? "markdown" : "";
      return `## ${name.replaceAll(/\s+/g, " ")}\n\n<${uri}>\n\n${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}\n`;
    })
    .join("\n");
}

/** Each as an XML element that its content cannot close. */
export function asXml(all: readonly ResourceText[]): string {
  const documents = all.map(({ resource: { name, uri, mimeType }, text }) => {
    const type = mimeType === undefined ? "" : ` type="${escapeAttribute(mimeType)}"`;
    return `<document name="${escapeAttribute(name)}" uri="${escapeAttribute(uri)}"${type}>\n${escapeText(text.replace(/\n$/, ""))}\n</document>\n`;
  });
  return `<documents>\n${documents.join("")}</documents>\n`;
}

function escapeAttribute(value: string): string {
  return escapeText(value).replaceAll('"', "&quot;");
}

/** Quotes and ">" need no escape in text, except ">" after "]]". XML cannot represent most control characters. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\ufffe\uffff]/gu, (found) => (/[\t\n\r\x7f-\x9f]/.test(found) ? found : "\ufffd"))
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll("]]>", "]]&gt;");
}
