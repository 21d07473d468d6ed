/** Parses `pressmark://status` defensively, because another server may use another format. */
import type { Content } from "../resources.ts";
import { isRecord, numberOf, optionalNumber, optionalText, recordOf, recordsIn, textOf } from "./loose.ts";

export const statusUri = "pressmark://status";

export type Status = ReturnType<typeof parseServerStatus>;

/** Missing or invalid members are left out. Throws if it is not a JSON object. */
export function parseServerStatus([content]: readonly Content[]) {
  const status: unknown = JSON.parse(content && "text" in content.body ? content.body.text : "");
  if (!isRecord(status)) throw new TypeError("no status");
  const { version, index, mounts, clients, reads, hosts } = status;
  const { state: indexState, problem: indexProblem } = recordOf(index);
  return {
    version: optionalText(version),
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
    hosts: recordsIn(hosts).map(({ host, kind, file, text }) => ({
      host: textOf(host),
      isCommand: kind === "command",
      file: optionalText(file),
      text: textOf(text),
    })),
  };
}

function wordOf<const Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value);
}
