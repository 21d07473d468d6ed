import { encodePath } from "../../lib/encode-path.ts";

/** The URIs that a path may have at another server. Only for files, URIs that differ in their escapes are known to be equal. */
export function urisOfPath(base: string, path: string): readonly string[] {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const readable = encodePath(path);
  return base.startsWith("file:") && readable !== encoded ? [base + readable, base + encoded] : [base + encoded];
}
