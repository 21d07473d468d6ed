/** Parses `pressmark://status` defensively, because another server may use another format. */
import type { Content } from "../resources.ts";

export const statusUri = "pressmark://status";

export interface MountState {
  readonly name: string;
  readonly uri: string;
  readonly state: "ok" | "failing" | "checking";
  readonly problem?: string;
  readonly indexed?: { readonly ready: number; readonly documents: number };
}

export interface Status {
  readonly version?: string;
  readonly mounts: readonly MountState[];
  readonly index?: "starting" | "indexing" | "complete" | "unavailable";
  readonly indexProblem?: string;
  readonly clients: readonly {
    readonly name: string;
    readonly version: string;
    readonly revision: string;
    readonly since: string;
    readonly connections: number;
  }[];
  readonly reads: readonly {
    readonly uri: string;
    readonly at: string;
    readonly client: string;
    readonly times: number;
  }[];
  readonly hosts: readonly {
    readonly host: string;
    readonly kind: "command" | "settings";
    readonly file?: string;
    readonly text: string;
  }[];
}

type Fields = Readonly<Record<string, unknown>>;

/** Missing or invalid members are left out. Throws if it is not a JSON object. */
export function parseServerStatus(contents: readonly Content[]): Status {
  const [content] = contents;
  const status = fieldsOf(JSON.parse(content && "text" in content.body ? content.body.text : ""));
  if (!status) throw new TypeError("no status");
  const { state: indexState, problem: indexProblem } = fieldsOf(status["index"]) ?? {};
  const index = wordOf(indexState, ["starting", "indexing", "complete", "unavailable"]);
  return {
    ...(typeof status["version"] === "string" && { version: status["version"] }),
    index,
    ...(typeof indexProblem === "string" && { indexProblem }),
    mounts: each(status["mounts"], (fields) => {
      const { name, uri, state, problem, indexed } = fields;
      const { ready, documents } = fieldsOf(indexed) ?? {};
      return {
        name: textOf(name),
        uri: textOf(uri),
        state: wordOf(state, ["ok", "failing"]) ?? "checking",
        ...(typeof problem === "string" && { problem }),
        ...(typeof ready === "number" && { indexed: { ready, documents: numberOf(documents) } }),
      };
    }),
    clients: each(status["clients"], ({ name, version, revision, since, connections }) => ({
      name: textOf(name),
      version: textOf(version),
      revision: textOf(revision),
      since: textOf(since),
      connections: numberOf(connections),
    })),
    reads: each(status["reads"], ({ uri, at, client, times }) => ({
      uri: textOf(uri),
      at: textOf(at),
      client: textOf(client),
      times: numberOf(times),
    })),
    hosts: each(status["hosts"], ({ host, kind, file, text }) => ({
      host: textOf(host),
      kind: kind === "command" ? kind : "settings",
      text: textOf(text),
      ...(typeof file === "string" && { file }),
    })),
  };
}

function each<T>(list: unknown, read: (fields: Fields) => T): T[] {
  return Array.isArray(list) ? list.map((item) => read(fieldsOf(item) ?? {})) : [];
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function wordOf<const Word extends string>(value: unknown, words: readonly Word[]): Word | undefined {
  return words.find((word) => word === value);
}
