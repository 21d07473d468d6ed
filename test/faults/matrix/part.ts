/** A part of the product as the fault matrix sees it: named texts that are written, listed, searched, read and watched. */
import type { Call, MountFailure, WatchFilter } from "../../../src/resources.ts";
import type { ServerProcess, Stage, StartOptions } from "../stage.ts";

/** What the server answered to a list or a search. */
export interface Answer {
  readonly names: readonly string[];
  /** Whether the answer claims that nothing is missing. */
  readonly claimsAll: boolean;
}

/** Processes other than the server that the part depends on. */
export interface Upstream {
  pids(): readonly number[];
  kill(): Promise<void>;
  /** Afterwards it runs again, or will be started by the server. */
  revive(): Promise<void>;
}

export interface Part {
  /** Starts the server. Called again after the server has ended. */
  start(options: StartOptions): Promise<ServerProcess>;
  /** Writes a text. Rejects when the write was refused; then either the text before or the new one counts. */
  put(name: string, text: string): Promise<void>;
  /** Absent where nothing can be removed. */
  remove?(name: string): Promise<void>;
  list(server: ServerProcess): Promise<Answer>;
  /** Absent where the part is not searched. */
  search?(server: ServerProcess): Promise<Answer>;
  read(server: ServerProcess, name: string): Promise<string>;
  /** What to watch, to be told when the text of this name is written. */
  watches(name: string): WatchFilter;
  /** Throws where a promise that only this part gives is broken. Asked when all is quiet. */
  alsoHolds?(server: ServerProcess): Promise<void>;
  /** Files that are removed or overwritten, one of them at random. Absent where nothing of the part is a file. */
  files?(): readonly string[];
  /** Makes the file faults felt, where the part would not look at its files otherwise. */
  useFiles?(server: ServerProcess): Promise<void>;
  /** After a file was removed or overwritten, or a write was refused: what a person would do. Absent where the part repairs itself. */
  repair?(server: ServerProcess): Promise<void>;
  /** Whether the texts were kept in the files alone: a removed file takes them along. */
  readonly losesTexts?: boolean;
  readonly upstream?: Upstream;
  close?(): Promise<void>;
}

export interface PartDefinition {
  readonly name: string;
  /** The folder, below the root of the stage, that disk faults hit. Absent where the part writes nothing. */
  readonly folder?: string;
  /** Whether questions wait for their time limit while an upstream process is paused. */
  readonly isSlowToPause?: boolean;
  open(stage: Stage): Promise<Part>;
}

/** Every text holds this word, so that one search finds all. */
export const commonWord = "tea";

/** For one question to the server. */
export function callOf(timeoutMs = 15_000): Call {
  return { caller: { id: "fault" }, signal: AbortSignal.timeout(timeoutMs) };
}

export function claimsAll({
  failures = [],
  ready = 1,
}: {
  failures?: readonly MountFailure[];
  ready?: number;
}): boolean {
  return failures.length === 0 && ready === 1;
}

/** All pages of the list as names; what `nameOf` does not know is left out. */
export async function listNames(
  { pressmark }: ServerProcess,
  nameOf: (uri: string) => string | undefined,
): Promise<Answer> {
  const names: string[] = [];
  let isAll = true;
  let cursor: string | undefined;
  do {
    const page = await pressmark.list(cursor === undefined ? {} : { cursor }, callOf());
    names.push(...page.items.map(({ uri }) => nameOf(uri)).filter((name) => name !== undefined));
    isAll &&= claimsAll(page);
    cursor = page.next;
  } while (cursor !== undefined);
  return { names, claimsAll: isAll };
}

export async function searchNames(
  { pressmark }: ServerProcess,
  nameOf: (uri: string) => string | undefined,
): Promise<Answer> {
  const answer = await pressmark.search({ text: commonWord, limit: 50 }, callOf());
  const names = answer.hits.map(({ resource }) => nameOf(resource.uri)).filter((name) => name !== undefined);
  return { names: [...new Set(names)], claimsAll: claimsAll(answer) };
}

export async function readText({ pressmark }: ServerProcess, uri: string): Promise<string> {
  const [content] = (await pressmark.read(uri, callOf())).contents;
  return content && "text" in content.body ? content.body.text : "";
}
