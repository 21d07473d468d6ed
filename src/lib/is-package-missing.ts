/** Recognizes a package that is not installed. Also runs in a browser. */

/** Whether an import failed because a package is not installed, not because of an error inside it. */
export function isPackageMissing(cause: unknown, name: string): boolean {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return code === "ERR_MODULE_NOT_FOUND" && typeof message === "string" && message.includes(`'${name}`);
}
