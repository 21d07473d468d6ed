/** Parses `pressmark://status` defensively, because another server may use another format. */
import type { Content } from "../resources.ts";
import { isRecord, numberOf, optionalNumber, optionalText, recordOf, recordsIn, textOf } from "./loose.ts";

export const statusUri = "pressmark://status";

export type Status = ReturnType<typeof parseServerStatus>;

/** Missing or invalid members are left out. Throws if it is not a JSON object. */
export function parseServerStatus([content]: readonly Content[]) {
  const status: unknown = JSON.parse(content && "text" in content.body ? content.body.text : "");
  if (!isRecord(status)) throw new TypeError("no status");
  const { version, url, index, mounts, clients, reads, hosts } = status;
  const { state: indexState, problem: indexProblem } = recordOf(index);
  return {
    version: optionalText(version),
    url: optionalText(url),
    index: wordOf(indexState, ["starting", "indexing", "complete", "unavailable"]),
    indexProblem: optionalText(indexProblem),
    mounts: recordsIn(mounts).map(({ name, title, description, uri, state, problem, indexed }) => {
      const { ready: share, documents } = recordOf(indexed);
      const ready = optionalNumber(share);
      return {
        name: textOf(name),
        title: optionalText(title),
        description: optionalText(description),
        uri: textOf(uri),
        state: wordOf(state, ["ok", "failing", "left out"]) ?? ("checking" as const),
        problem: optionalText(problem),
        indexed: ready === undefined ? undefined : { ready, documents: numberOf(documents) },
      };
    }),
    clients: recordsIn(clients).map(({ name, version: clientVersion, revision, since, connections }) => ({
      name: textOf(name),
      version: textOf(clientVersion),
      revision: textOf(revision),
      since: textOf(since),
      connections: numberOf(connections),
    })),
    reads: recordsIn(reads).map(({ uri, at, client, times }) => ({
      uri: textOf(uri),
      at: textOf(at),
      client: textOf(client),
      times: numberOf(times),
    })),
    hosts: recordsIn(hosts).map(({ host, stdio, seen, ...http }) => ({
      host: textOf(host),
      http: wayOf(http),
      stdio: wayOf(recordOf(stdio)),
      seen: isRecord(seen)
        ? {
            name: textOf(seen["name"]),
            version: textOf(seen["version"]),
            lastSeen: textOf(seen["lastSeen"]),
            isConnected: numberOf(seen["connections"]) > 0,
          }
        : undefined,
    })),
  };
}

export type HostWayView = NonNullable<ReturnType<typeof wayOf>>;

/** How a host connects; undefined without a text to paste. */
function wayOf({ kind, file, text, links }: Readonly<Record<string, unknown>>) {
  if (typeof text !== "string") return undefined;
  return {
    isCommand: kind === "command",
    file: optionalText(file),
    text,
    links: recordsIn(links).flatMap(({ title, url }) =>
      // Anything else could run a script.
      typeof url === "string" && /^(?:vscode(?:-insiders)?:mcp|cursor:\/\/anysphere\.cursor-deeplink)\//.test(url)
        ? [{ title: textOf(title), url }]
        : [],
    ),
  };
}

function wordOf<const Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value);
}
