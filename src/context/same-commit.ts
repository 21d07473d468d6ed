/** Finds files that changed in the same commits, if the git history is mounted as well. */
import { type Call, type Resources } from "../resources.ts";
import { readable } from "./candidates.ts";
import { roundRobin, tryRequest } from "./round-robin.ts";
import { findPinned } from "./pins.ts";
import type { Neighbour, RelatedTo } from "./neighbours.ts";

/** Limits on candidates and commits. A commit of many files says nothing about any two of them. */
const maxCandidates = 3;
const maxCommits = 4;
const maxFiles = 12;
const maxTogether = 5;

export async function changedTogether(
  resources: Resources,
  candidates: readonly RelatedTo[],
  call: Call,
): Promise<readonly Neighbour[]> {
  const histories = await historiesOf(resources, call);
  if (histories.length === 0) return [];
  const found = await roundRobin(candidates.slice(0, maxCandidates), 2, async ({ uri }, of) => {
    const place = histories.map((base) => placeIn(base, uri)).find((one) => one !== undefined);
    if (!place) return [];
    const { base, root, path } = place;
    const log = await readJson(resources, `${base}log?max=${maxCommits}&path=${encodeURIComponent(path)}`, call);
    const hashes = listOf(log, "commits").flatMap((commit) => stringOf(commit, "hash") ?? []);
    const times = new Map<string, number>();
    for (const hash of hashes.slice(0, maxCommits)) {
      const files = listOf(await readJson(resources, `${base}commit/${encodeURIComponent(hash)}`, call), "files");
      if (files.length > maxFiles) continue;
      for (const file of files) {
        const other = stringOf(file, "path");
        if (other !== undefined && other !== path) times.set(other, (times.get(other) ?? 0) + 1);
      }
    }
    const most = [...times].sort((left, right) => right[1] - left[1] || (left[0] < right[0] ? -1 : 1));
    const neighbours = await roundRobin(most.slice(0, maxTogether), 2, async ([other, count]) => {
      const changed = root + other.split("/").map(encodeURIComponent).join("/");
      const resource = await findPinned(resources, changed, call);
      const why = `changed in the same commit as ${path.slice(path.lastIndexOf("/") + 1)}`;
      return resource ? [{ resource, of, nearness: Math.min(1, 0.4 + 0.2 * count), why }] : [];
    });
    return neighbours.flat();
  });
  return found.flat();
}

/** URI prefixes of the templates of git mounts. */
async function historiesOf(resources: Resources, call: Call): Promise<readonly string[]> {
  const { items } = await tryRequest(() => resources.templates({ limit: 500 }, call), { items: [] }, call);
  const commits = new Set(
    items.flatMap(({ uriTemplate }) => (uriTemplate.endsWith("commit/{sha}") ? [uriTemplate.slice(0, -12)] : [])),
  );
  return items.flatMap(({ uriTemplate }) => {
    const [base = "", rest] = uriTemplate.split("log{?");
    return rest?.includes("path") && commits.has(base) ? [base] : [];
  });
}

/** A folder and its history are mounted under one name: `file:///home/me/project/a.ts` and `git://project/`. */
function placeIn(base: string, uri: string): { base: string; root: string; path: string } | undefined {
  const name = /\/\/([^/]+)\/$/.exec(base)?.[1];
  const at = name === undefined || uri.startsWith(base) ? -1 : uri.indexOf(`/${name}/`);
  if (at === -1 || uri.includes("?")) return undefined;
  const root = uri.slice(0, at + name!.length + 2);
  return { base, root, path: readable(uri.slice(root.length)) };
}

async function readJson(resources: Resources, uri: string, call: Call): Promise<unknown> {
  try {
    const { contents } = await resources.read(uri, call);
    const body = contents[0]?.body;
    return body && "text" in body ? JSON.parse(body.text) : undefined;
  } catch (cause) {
    if (call.signal.aborted) throw cause;
    return undefined;
  }
}

function listOf(value: unknown, name: string): readonly unknown[] {
  const list = memberOf(value, name);
  return Array.isArray(list) ? list : [];
}

function stringOf(value: unknown, name: string): string | undefined {
  const text = memberOf(value, name);
  return typeof text === "string" ? text : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
