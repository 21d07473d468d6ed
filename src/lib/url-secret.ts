/** Whether a URL may contain a secret, in any of the usual positions. */

/** A key in a path has letters and digits, and is longer than most names. */
const leastKeyLength = 16;

/** True if there is a user, a password, a query, a fragment or a path segment that could be a key; and if it is no URL. */
export function mayHoldSecret(text: string): boolean {
  const url = URL.parse(text);
  if (!url) return true;
  const { username, password, search, hash, pathname } = url;
  return username + password + search + hash !== "" || pathname.split("/").some(couldBeKey);
}

function couldBeKey(segment: string): boolean {
  return segment.length >= leastKeyLength && /\d/.test(segment) && /[a-z]/i.test(segment);
}
