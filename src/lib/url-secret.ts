/** Whether a URL may hold a secret, in any of the places where people put one. */

/** A key in a path has letters and digits, and is longer than most names. */
const leastKeyLength = 16;

/** True where there is a user, a password, a query, a fragment or a part of the path that could be a key; and for what is no URL. */
export function mayHoldSecret(text: string): boolean {
  const url = URL.parse(text);
  if (!url) return true;
  const { username, password, search, hash, pathname } = url;
  return username + password + search + hash !== "" || pathname.split("/").some(couldBeKey);
}

function couldBeKey(segment: string): boolean {
  return segment.length >= leastKeyLength && /\d/.test(segment) && /[a-z]/i.test(segment);
}
