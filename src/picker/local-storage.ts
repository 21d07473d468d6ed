/** Text that the browser keeps. A sandboxed frame, or a browser that refuses, keeps nothing. */

export function storedText(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

export function storeText(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // It stays until the page is closed.
  }
}
