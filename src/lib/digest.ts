/** The digest of a content: the same for the same bytes, wherever it is computed. */

/** `sha256:` and 64 hexadecimal digits. A text counts as its UTF-8. */
export async function digestOf(content: string | Uint8Array): Promise<string> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : (content as Uint8Array<ArrayBuffer>);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
