/** How a connection is written in the settings of each host. */

/** How a host reaches Pressmark. */
export type HostConnection =
  | {
      readonly kind: "http";
      readonly url: string;
      /** Environment variable with the token, if callers must send one. */
      readonly tokenVariable?: string;
      /** Whether a person chose that variable, so that it replaces a token of the entry. */
      readonly isTokenChosen?: boolean;
    }
  | { readonly kind: "stdio"; readonly command: string; readonly args: readonly string[] };

export type EntryValues = Readonly<Record<string, string | readonly string[]>>;

/** Keys that define the connection; all others of an entry belong to the user. */
export const connectionKeys: readonly string[] = [
  "type",
  "url",
  "httpUrl",
  "serverUrl",
  "transport",
  "command",
  "args",
];

export function asPlain(connection: HostConnection): EntryValues {
  if (connection.kind === "http") return { url: connection.url };
  return { command: connection.command, args: connection.args };
}

export function asTyped(connection: HostConnection): EntryValues {
  return { type: connection.kind, ...asPlain(connection) };
}

export function withHttpType(type: string): (connection: HostConnection) => EntryValues {
  return (connection) => ({ ...(connection.kind === "http" && { type }), ...asPlain(connection) });
}

/** Here `url` alone means the older transport with server-sent events. */
export function withHttpUrl(connection: HostConnection): EntryValues {
  return connection.kind === "http" ? { httpUrl: connection.url } : asPlain(connection);
}

export function asOpencode(connection: HostConnection): EntryValues {
  if (connection.kind === "http") return { type: "remote", url: connection.url };
  return { type: "local", command: [connection.command, ...connection.args] };
}

interface EntryConnection {
  readonly urls: readonly string[];
  /** The program, then its arguments. */
  readonly words?: readonly string[];
}

/** The connection of an entry in any of these formats. */
export function connectionOf(entry: Readonly<Record<string, unknown>>): EntryConnection {
  const urls = [entry["url"], entry["httpUrl"], entry["serverUrl"]].filter((each) => typeof each === "string");
  const { command, args } = entry;
  const words: unknown[] = Array.isArray(command) ? command : [command, ...(Array.isArray(args) ? args : [])];
  if (typeof words[0] !== "string") return { urls };
  return { urls, words: words.filter((each) => typeof each === "string") };
}
