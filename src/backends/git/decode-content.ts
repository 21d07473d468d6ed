/** Decodes contents and messages of a repository, which may each have another encoding. */
import { isUtf8 } from "node:buffer";
import { decodeExactly, findEncoding } from "../../lib/text-encoding.ts";

/** In the encoding that the bytes show; in UTF-8 if they show none. */
export function decodeContent(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const found = findEncoding(bytes);
  const text = found && decodeExactly(bytes.subarray(found.markBytes), found.encoding);
  return text ?? bytes.toString("utf8");
}
