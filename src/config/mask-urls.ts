/** Masks what may be secret in URLs that are shown: passwords, tokens before the host, and parameters such as `password`. */
import type { KeyPath } from "./problem.ts";
import { dots } from "./references.ts";

/** Schemes with which a lone `name@` is a user. With others it may be a token, as in `nats://token@host` or `https://token@host`. */
const namesUser = /^(?:postgres(?:ql)?|rediss?|mysql|mariadb|mongodb(?:\+srv)?|ssh|git\+ssh|sftp)$/i;
/** With these, the name before a password is no secret, and there is no path. With https it may be one: git hosts take a token as the name, with a fixed password. */
const isOfBus = /^(?:nats|tls)$/i;
const namesSecret = /pass|pwd|secret|token|credential|signature|session|jwt|auth(?!or)|key$|(?:^|[^a-z])sig$/i;

/** Options whose whole value is a URL. */
const addressNames: ReadonlySet<unknown> = new Set(["url", "endpoint", "rootUrl", "state", "bus"]);

export function isAddress(path: KeyPath): boolean {
  return addressNames.has(path.at(-1));
}

export interface UrlMasking {
  /** Whether the whole text is one URL, in which a space or a quote may be part of a password. Otherwise they end a URL. */
  readonly isAddress?: boolean;
  /** What to show instead of a secret. Default: dots. */
  mask?(secret: string): string;
}

export function maskUrls(text: string, { isAddress: isWhole = false, mask = () => dots }: UrlMasking = {}): string {
  const [before = "", ...parts] = text.split("://");
  let shown = before;
  let scheme = schemeAt(before);
  for (const part of parts) {
    const end = isWhole ? -1 : part.search(/[\s"]/);
    const url = end < 0 ? part : part.slice(0, end);
    shown += `://${maskParameters(maskUser(url, scheme, mask), mask)}${end < 0 ? "" : part.slice(end)}`;
    scheme = schemeAt(part);
  }
  return shown;
}

function schemeAt(text: string): string {
  return /(?<![a-z\d+.-])[a-z][a-z\d+.-]*$/i.exec(text.slice(-20))?.[0] ?? "";
}

function maskUser(url: string, scheme: string, mask: (secret: string) => string): string {
  const user = userOf(url, scheme);
  if (user === undefined) return url;
  const rest = url.slice(user.length);
  const colon = user.indexOf(":");
  const [name, password] = colon < 0 ? [user, ""] : [user.slice(0, colon), user.slice(colon + 1)];
  const isName = namesUser.test(scheme) || (password !== "" && isOfBus.test(scheme));
  if (!isName || name.includes("${")) return `${mask(user)}${rest}`;
  return `${name}${password === "" ? "" : `:${mask(password)}`}${rest}`;
}

/** Ends where URL parsers see its end, so that the host of a URL that can be used is never masked. */
function userOf(url: string, scheme: string): string | undefined {
  const user = (isOfBus.test(scheme) ? /^([^?]*)@/ : /^([^/?#]*)@/).exec(url)?.[1];
  if (user !== undefined) return user;
  // A password that is not encoded, as in user:pass/word@host. Without a valid port, this URL leads nowhere.
  const broken = /^([^/?#:@[]*:(?!\d*(?:[/?#]|$)).*)@/s.exec(url)?.[1];
  return broken?.includes("${") ? undefined : broken;
}

function maskParameters(url: string, mask: (secret: string) => string): string {
  return url.replaceAll(/([?&#])([^=&?#]+)=([^&#]+)/g, (whole, mark: string, name: string, value: string) =>
    namesSecret.test(decoded(name)) ? `${mark}${name}=${mask(value)}` : whole,
  );
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
