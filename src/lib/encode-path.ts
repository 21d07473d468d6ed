/** Encodes paths in the one form in which the router writes and compares URIs. */

const keptEscapes: Readonly<Record<string, string>> = {
  "%24": "$",
  "%26": "&",
  "%2B": "+",
  "%2C": ",",
  "%3A": ":",
  "%3B": ";",
  "%3D": "=",
  "%40": "@",
};

/** A slash inside the segment is escaped. Throws on lone surrogates. */
export function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /%(?:24|26|2B|2C|3A|3B|3D|40)/g,
    (escape) => keptEscapes[escape] ?? escape,
  );
}

/** Lone surrogates, which no URI has, are replaced. */
export function encodePath(path: string): string {
  return path.toWellFormed().split("/").map(encodeSegment).join("/");
}
