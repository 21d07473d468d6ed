/** The skills of folders served without a config: one mount, if there are any. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { skillFoldersIn } from "../config/skill-folders.ts";
import { stack } from "../layer.ts";
import { standardLayers } from "../layers/standard.ts";
import type { Mount } from "../router/route.ts";
import type { SourceDefinition, Runtime } from "../source.ts";
import { sources } from "../sources/index.ts";
import { isWithin } from "./folders.ts";

export interface SkillsMount {
  readonly mount: Mount;
  readonly definition: SourceDefinition;
  readonly options: unknown;
}

/** Undefined if no folder has skills. */
export async function openSkillsMount(
  folders: readonly { readonly name: string; readonly path: string }[],
  runtime: Runtime,
): Promise<SkillsMount | undefined> {
  const roots = folders.flatMap(({ path }) =>
    skillFoldersIn(path)
      .map((name) => join(path, name))
      // A link must not leave the named folder.
      .filter((root) => isWithin(path, realpathSync.native(root))),
  );
  if (roots.length === 0) return undefined;
  const { default: definition } = await sources.skills();
  const options = { roots };
  const taken = new Set(folders.map(({ name }) => name));
  let name = "skills";
  for (let count = 2; taken.has(name); count += 1) name = `skills-${count}`;
  const source = stack(await definition.open(options, runtime), { name }, standardLayers(runtime));
  return {
    mount: { name, base: definition.base!(options), source },
    definition: definition as SourceDefinition,
    options,
  };
}
