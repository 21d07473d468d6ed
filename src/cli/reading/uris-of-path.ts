/** The URIs that a path may have at another server. Only for files, URIs that differ in their escapes are known to be equal. */
export function urisOfPath(base: string, path: string): readonly string[] {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  const readable = encoded.replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent);
  return base.startsWith("file:") && readable !== encoded ? [base + readable, base + encoded] : [base + encoded];
}
