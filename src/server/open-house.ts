/** From folders to a house: each folder a mount with the standard layers, all of them as one Resources. */
import { homedir } from "node:os";
import { relative, resolve, sep } from "node:path";
import type { Writable } from "node:stream";
import { openPolicy } from "../access/policy.ts";
import { notFound } from "../errors.ts";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import type { Call, Resources } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRoutes, type Mount } from "../router/route.ts";
import type { Tools } from "../source.ts";
import { sources } from "../sources/index.ts";
import { keptKey } from "./cursor-key.ts";
import { type Folder, findFolders, isWithin } from "./folders.ts";
import { stateFolder } from "./state-folder.ts";
import { createTools, logLevel } from "./tools.ts";

/** A larger file is listed and not read: it would fill a model's context many times over. */
const maxBytes = 5 * 1024 * 1024;

export interface HouseOptions {
  /** As the person named them; none means the one they stand in. */
  readonly folders: readonly string[];
  /** Where the person stands. */
  readonly from: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the log goes. */
  readonly err: Pick<Writable, "write">;
}

export interface House {
  readonly resources: Resources;
  readonly mounts: readonly { readonly name: string; readonly base: string; readonly folder: string }[];
  readonly tools: Tools;
  /** The URI that a person means by a URI, by a path within one of the folders, or by an absolute path. */
  locate(where: string, call: Call): Promise<string>;
  /** Afterwards nothing of the house runs or is held. */
  close(): Promise<void>;
}

export async function openHouse({ folders: named, from, env, err }: HouseOptions): Promise<House> {
  const tools = createTools(err, logLevel(env));
  const folders = findFolders(named, from);
  const { default: file } = await sources.file();
  const mounts: Mount[] = [];
  for (const { name, path } of folders) {
    const options = { root: path, maxBytes };
    const source = await file.open(options, tools);
    mounts.push({
      name,
      base: file.base!(options),
      source: stack(source, { name }, standardLayers(tools)),
    });
  }
  const state = stateFolder({ platform: process.platform, home: homedir(), env });
  const resources = createResources({ mounts, policy: openPolicy, tools, cursorKey: keptKey(state, tools)() });
  return {
    resources,
    mounts: mounts.map(({ name, base }, index) => ({ name, base, folder: folders[index]!.path })),
    tools,
    locate: createLocate(mounts, folders, resources),
    close: () => resources.close(),
  };
}

function createLocate(mounts: readonly Mount[], folders: readonly Folder[], resources: Resources): House["locate"] {
  const routes = createRoutes(mounts);
  return async (where, call) => {
    if (where.includes("://") || routes.find(where)) return where;
    const uris = folders.flatMap(({ name, path: folder }) => {
      const path = resolve(folder, where);
      if (path !== folder && !isWithin(folder, path)) return [];
      const mount = routes.mounts.find((candidate) => candidate.name === name)!;
      return routes.spell(mount, { path: relative(folder, path).split(sep).join("/") }) ?? [];
    });
    for (const uri of uris) {
      const found = await resources.stat(uri, call).catch(() => undefined);
      if (found) return uri;
    }
    throw notFound(where);
  };
}
