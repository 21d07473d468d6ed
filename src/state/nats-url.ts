/** The URL of the NATS servers, as in `server.bus`. It may contain a password or a token, so it is never shown. */
import { invalid } from "../errors.ts";
import { checkParameters } from "./check-parameters.ts";

export interface NatsTarget {
  /** `host:port` */
  readonly servers: readonly string[];
  readonly user?: string;
  readonly pass?: string;
  readonly token?: string;
  readonly isTls: boolean;
  /** File with the certificates of the authority. Default: those that Node trusts. */
  readonly authority?: string;
  /** How many servers of a cluster store each message. */
  readonly replicas: number;
}

const form = "nats://user:password@host:4222 (or nats://token@host, several hosts with commas, tls:// for TLS)";

/** Parameters of the URL: `replicas` (1 to 5, default 1) and `ca` (a file). Throws errors that contain nothing secret. */
export function parseNatsUrl(text: string): NatsTarget {
  const parsed = /^(nats|tls):\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/?(?:\?([^#]*))?$/.exec(text);
  if (!parsed) throw invalid(`"server.bus" is not usable; it must look like ${form}`);
  const [, scheme, credentials, hosts = "", query = ""] = parsed;
  const servers = hosts.split(",").map(withPort);
  checkParameters("server.bus", query, ["replicas", "ca"]);
  const given = new URLSearchParams(query);
  const replicas = Number(given.get("replicas") ?? 1);
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > 5)
    throw invalid('"replicas" in "server.bus" must be a number from 1 to 5');
  const authority = given.get("ca");
  // Part of the password, if that contains a question mark; the library repeats the name of a file that it cannot read.
  if (query.includes("@"))
    throw invalid('the part of "server.bus" after ? contains @; in a password write ? as %3F, in a file name @ as %40');
  return {
    servers,
    isTls: scheme === "tls",
    replicas,
    ...(authority && { authority }),
    ...(credentials && parseCredentials(credentials)),
  };
}

function parseCredentials(text: string): Pick<NatsTarget, "user" | "pass" | "token"> {
  const [first = "", ...rest] = text.split(":");
  try {
    if (rest.length === 0) return { token: decodeURIComponent(first) };
    return { user: decodeURIComponent(first), pass: decodeURIComponent(rest.join(":")) };
  } catch {
    throw invalid(
      'the user or password in "server.bus" is not encoded as in a URL: write % as %25, @ as %40, / as %2F',
    );
  }
}

function withPort(host: string): string {
  const parsed = /^(\[[0-9a-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i.exec(host);
  if (!parsed) throw invalid(`a host in "server.bus" is not usable; it must look like ${form}`);
  return `${parsed[1]}:${parsed[2] ?? 4222}`;
}
