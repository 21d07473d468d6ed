/** Begins to copy at once: browsers allow it only shortly after a click, and the text may take longer. */
export async function copyText(text: Promise<string>): Promise<void> {
  if (typeof ClipboardItem === "undefined") return navigator.clipboard.writeText(await text);
  const blob = text.then((each) => new Blob([each], { type: "text/plain" }));
  // A failure of the text is thrown before that of the clipboard.
  await Promise.all([blob, navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })])]);
}
