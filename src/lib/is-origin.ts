/** Whether a text is the origin of a page, such as `https://app.example`. "*" and "null" are not: "null" is that of every sandboxed frame. */
export function isOrigin(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#*@,]+$/i.test(text);
}
