/** Changes a set where it is stored: in the config, in the state folder, or in what instances share. */
import { readFileSync } from "node:fs";
import { dirname, extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { editSet } from "../../config/edit-sets.ts";
import { writeChange } from "../../config/hosts/settings.ts";
import { parseText, type ConfigTextFormat } from "../../config/parse-text.ts";
import { isPlainObject } from "../../config/references.ts";
import type { SetSettings } from "../../config/schema.ts";
import { isSetName, isSetUri, setNameRule } from "../../config/sets.ts";
import { realPath } from "../../lib/real-path.ts";
import { whileAlone } from "../../config/while-alone.ts";
import { invalid, quote } from "../../errors.ts";
import { stateFolder, systemPathsOf } from "../../lib/system-paths.ts";
import type { Call } from "../../resources.ts";
import { isWithin } from "../folders.ts";
import { uriFor } from "../locate.ts";
import { type Server, type OpenServerOptions, openServer } from "../open-server.ts";
import { noSuchSet } from "../sets.ts";

interface SetChange {
  readonly name: string;
  /** URIs or paths, as the user wrote them. */
  readonly add?: readonly string[];
  /** Empty removes the whole set. */
  readonly remove?: readonly string[];
  readonly title?: string;
  readonly description?: string;
}

interface ChangedSet {
  /** The config's file, or where saved sets are. */
  readonly place: string;
  readonly isConfig: boolean;
  /** New members; undefined if the set was removed. */
  readonly resources: readonly string[] | undefined;
}

/** Where a set is stored, and how it is written there. */
interface Place {
  readonly file: string;
  readonly isConfig: boolean;
  readonly before: SetSettings | undefined;
  /** Base folder of paths; undefined if sets contain only URIs. */
  readonly folder?: string;
  write(after: SetSettings | undefined): Promise<void>;
}

export async function changeSet(change: SetChange, options: OpenServerOptions, call: Call): Promise<ChangedSet> {
  const { name } = change;
  if (!isSetName(name)) throw invalid(`${setNameRule}; not ${quote(name, 64)}`);
  const pressmark = await openServer({ ...options, live: false });
  try {
    // Locked, so that nobody changes the set between reading and writing.
    return await whileAlone(pressmark.config ?? pressmark.sets.store.location, stateOf(options), async () => {
      const place = await placeOf(name, pressmark, options);
      if (!place.before && !change.add) throw noSuchSet(name);
      const after = await applied(change, place, pressmark, call);
      await place.write(after);
      return { place: place.file, isConfig: place.isConfig, resources: after?.resources };
    });
  } finally {
    await pressmark.close();
  }
}

async function applied(
  { add = [], remove, title, description }: SetChange,
  { before, folder }: Place,
  pressmark: Server,
  call: Call,
): Promise<SetSettings | undefined> {
  const uriOf = (where: string) => uriFor(where, folder ?? "/", pressmark.mounts) ?? where;
  const resources = [...(before?.resources ?? [])];
  for (const word of add) {
    const uri = await pressmark.locate(word, call);
    if (isSetUri(uri)) throw invalid(`a set contains resources, not other sets; leave out ${quote(word)}`);
    await pressmark.resources.stat(uri, call);
    if (!resources.some((each) => each === uri || uriOf(each) === uri)) resources.push(written(uri, folder));
  }
  if (remove?.length === 0) return undefined;
  for (const word of remove ?? []) {
    const uri = await pressmark.locate(word, call).catch(() => word);
    const index = resources.findIndex((each) => each === word || each === uri || uriOf(each) === uri);
    if (index < 0) throw invalid(`the set does not contain ${quote(word)}; "pressmark set show" lists its resources`);
    resources.splice(index, 1);
  }
  if (resources.length === 0) {
    if (remove) return undefined;
    throw invalid("name at least one resource to add");
  }
  return { resources, title: title ?? before?.title, description: description ?? before?.description };
}

/** Writes a file below the config's folder as a relative path, which is valid in other checkouts. */
function written(uri: string, folder: string | undefined): string {
  if (folder === undefined || !uri.startsWith("file:") || uri.includes("?")) return uri;
  const path = fileURLToPath(uri);
  return isWithin(folder, path) ? relative(folder, path).split(sep).join("/") : uri;
}

async function placeOf(name: string, pressmark: Server, options: OpenServerOptions): Promise<Place> {
  const { store } = pressmark.sets;
  const saved = store.all().find((set) => set.name === name && set.owner === undefined);
  const inState: Place = {
    file: store.location,
    isConfig: false,
    before: saved,
    async write(after) {
      if (!after) return void (await store.remove({ name }));
      const set = { ...after, name };
      // A running server and other machines do not take the lock of commands.
      if (!(saved ? await store.replace(set, saved) : await store.create(set)))
        throw invalid(`the set ${quote(name)} was just saved; try again`);
    },
  };
  const { config } = pressmark;
  if (config === undefined) return inState;
  const format = formatOf(config);
  if (format === undefined) {
    if (pressmark.sets.configured().some((set) => set.name === name))
      throw invalid(
        `the set ${quote(name)} is defined in ${quote(config)}, which is a program; change it there by hand`,
      );
    return inState;
  }
  const text = readFileSync(config, "utf8");
  const before = await setIn(text, format, name);
  // Another instance does not see a config that is changed here.
  if (!before && (saved || pressmark.shared)) return inState;
  return {
    file: config,
    isConfig: true,
    before,
    folder: realPath(dirname(config)),
    async write(after) {
      const edited = await editSet(text, format, name, after);
      if (edited !== text)
        writeChange({ file: config, before: text, after: edited }, join(stateOf(options), "backups"));
    },
  };
}

async function setIn(text: string, format: ConfigTextFormat, name: string): Promise<SetSettings | undefined> {
  const parsed = await parseText(text, format);
  const sets = "value" in parsed && isPlainObject(parsed.value) ? parsed.value["sets"] : undefined;
  // Safe cast: the server was opened from this config, so it is valid.
  return isPlainObject(sets) && Object.hasOwn(sets, name) ? (sets[name] as SetSettings) : undefined;
}

function formatOf(file: string): ConfigTextFormat | undefined {
  const extension = extname(file);
  return extension === ".json" ? "json" : extension === ".ts" ? undefined : "yaml";
}

function stateOf({ env }: OpenServerOptions): string {
  return stateFolder(systemPathsOf(env));
}
