/** Converts between URLs of pages and addresses. */
import { denied, invalid, quote } from "../../errors.ts";
import { cutAt } from "../../lib/cut-at.ts";
import { type Address, pathOf, segmentsOf } from "../../source.ts";

/** Longest accepted URL. */
const maxUrlLength = 8000;

export function keyOf({ path, query }: Address): string {
  return JSON.stringify([path, ...Object.entries(query ?? {})]);
}

/** The URL of a page as it is written in a config or sitemap. Throws "invalid". */
export function parsePageUrl(given: string, { direct }: { readonly direct: boolean }, base?: string): URL {
  const url = URL.parse(given, base);
  if (!url || !/^https?:$/.test(url.protocol))
    throw invalid(`${quote(given)} is not a page URL; write it with https://`);
  if (url.username !== "" || url.password !== "")
    throw invalid("the URL of a page may not contain a user name or password");
  if (direct && (url.protocol !== "https:" || url.port !== ""))
    throw invalid(`${quote(given)} cannot be listed with "direct": only https:// URLs without a port can`);
  url.hash = "";
  return url;
}

export function addressOf(url: URL): Address {
  const query = Object.fromEntries(url.searchParams);
  try {
    const segments = url.pathname === "/" ? [] : url.pathname.slice(1).split("/").map(decodeURIComponent);
    const isAddressable = !segments.some((each) => each.includes("\0")) && !("" in query);
    if (isAddressable && url.href.length <= maxUrlLength && Object.keys(query).length === url.searchParams.size)
      return { path: pathOf([url.host, ...segments]), ...(url.searchParams.size > 0 && { query }) };
  } catch {
    // Invalid percent escape.
  }
  throw invalid(
    `${quote(url.href)} cannot be listed: its query may not repeat a name, and every "%" must begin a valid escape`,
  );
}

/** The address that a redirect led to, for the access rules; undefined if it is the one that was requested. Throws "denied" for a page that no rule can name. */
export function redirectTarget(requested: URL, finalHref: string): Address | undefined {
  if (finalHref === requested.href) return undefined;
  const target = targetOf(finalHref);
  // The target is not revealed to the caller.
  if (!target) throw denied(`${quote(requested.host)} redirects to a URL that has no address`);
  const own = targetOf(requested.href);
  return own && keyOf(own) === keyOf(target) ? undefined : target;
}

/** The address of a URL, without its query if that cannot be expressed: access rules are about paths. */
export function targetOf(href: string): Address | undefined {
  for (const each of [href, cutAt(href, /\?/)]) {
    try {
      return addressOf(new URL(each));
    } catch {
      // Tried without its query, or not a URL with an address.
    }
  }
  return undefined;
}

/** The name of a listed page. It differs from its title, so that lists show both. */
export function nameOf({ href }: URL): string {
  return href.replace(/^https?:\/\//, "");
}

/** Undefined if the address is not a page of any host. */
export function urlOf({ path, query }: Address, schemeOf: (host: string) => string): URL | undefined {
  const [host = "", ...segments] = segmentsOf(path);
  // A bare host is its start page, which has no second address.
  if (!/^[\p{L}\p{N}.:[\]-]+$/u.test(host) || (segments.length === 1 && segments[0] === "")) return undefined;
  const pagePath = segments.map(encodeURIComponent).join("/");
  const search = query
    ? `?${Object.entries(query)
        .map((pair) => pair.map(encodeURIComponent).join("="))
        .join("&")}`
    : "";
  const url = URL.parse(`${schemeOf(host)}//${host}/${pagePath}${search}`);
  // Rejects a URL whose host was normalized: the access rules were checked for the host as written.
  return url && url.username === "" && url.host === host && url.href.length <= maxUrlLength ? url : undefined;
}
