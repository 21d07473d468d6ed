/** Folders of skills. Each skill is served complete, in its last valid state. */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { entriesPage } from "../backends/entries-page.ts";
import { isDirectoryError, notFound } from "../errors.ts";
import { defineSource, hasQuery } from "../source.ts";
import type { Suggestion } from "../source.ts";
import { watchOptions } from "../backends/disk/folder-options.ts";
import { openFolder } from "../backends/disk/open-folder.ts";
import { skillFoldersIn } from "../backends/skill-folders.ts";
import { createSkillsCatalogue } from "./skills/catalogue.ts";
import type { SkillsRoot } from "./skills/catalogue.ts";
import { folderOf, manifestName } from "./skills/list-skill-folder.ts";
import { maxBytes } from "./skills/rules.ts";
import { statOf } from "./skills/snapshot.ts";

export interface SkillsOptions {
  readonly root?: string;
  readonly roots?: readonly string[];
  readonly prefix?: string;
  readonly exclude?: readonly string[];
  readonly watch?: "auto" | "poll";
  readonly pollMs?: number;
}

export default defineSource<SkillsOptions>({
  name: "skills",
  summary: "Skills: folders that contain a SKILL.md",
  scheme: "skill",
  options: (z) =>
    z
      .object({
        root: z
          .string()
          .min(1)
          .optional()
          .describe("Folder with skills, each in a folder of the skill's name, at any depth")
          .meta({ format: "path" }),
        roots: z
          .array(z.string().min(1).meta({ format: "path" }))
          .max(100)
          .optional()
          .describe("More such folders; of two skills with the same path the first is served"),
        prefix: z
          .string()
          .regex(/^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)*$/, {
            message: 'a prefix consists of a-z, 0-9, ".", "-" and "_", with "/" between its segments',
          })
          .max(200)
          .optional()
          .describe("Prefix of all paths: acme/billing gives skill://acme/billing/refunds/SKILL.md"),
        ...watchOptions(z),
      })
      .refine(({ root, roots = [] }) => root !== undefined || roots.length > 0, {
        message: 'give a folder of skills as "root", or several as "roots"',
        path: ["root"],
      }),

  base: ({ prefix }) => (prefix === undefined ? "skill://" : `skill://${prefix}/`),

  detect: ({ path }) => skillFoldersIn(path).map((root) => ({ what: "skills", where: root, values: { root } })),

  async open({ root, roots: more = [], prefix: _prefix, ...served }, runtime) {
    const roots: SkillsRoot[] = [];
    for (const path of [...(root === undefined ? [] : [root]), ...more]) {
      const files = openFolder({ ...served, root: path, maxBytes }, runtime);
      const real = realpathSync.native(resolve(path));
      // The same folder given twice is opened once.
      if (roots.some((other) => other.path === real)) await files.close();
      else roots.push({ path: real, files });
    }
    const catalogue = createSkillsCatalogue(roots, runtime);

    return {
      cursorAfter: ({ path }) => path,

      async list(request) {
        const { files } = await catalogue.fresh();
        return entriesPage(
          Array.from(files.values(), ({ entry }) => entry),
          request,
        );
      },

      async read(at) {
        const { files, directories } = await catalogue.fresh();
        const found = hasQuery(at) ? undefined : files.get(at.path);
        if (found) return found.parts;
        if (!hasQuery(at) && directories.has(at.path)) throw isDirectoryError(at.path);
        throw notFound(at.path);
      },

      async stat(at) {
        const found = hasQuery(at) ? undefined : statOf(await catalogue.fresh(), at.path);
        if (found === undefined) throw notFound(at.path);
        return found;
      },

      async children(at, request) {
        const inside = hasQuery(at) ? undefined : (await catalogue.fresh()).directories.get(at.path);
        if (inside === undefined) throw notFound(at.path);
        return entriesPage(inside, request);
      },

      templates: [
        {
          template: `{+skill}/${manifestName}`,
          name: "Skill",
          description: "The instructions of a skill, by its path",
          mimeType: "text/markdown",
        },
        { template: "{+path}", name: "File of a skill", description: "One file of a skill, or one of its folders" },
      ],

      async complete({ variable, value }) {
        const { skills, files } = await catalogue.fresh();
        if (variable === "skill")
          return suggest(value, skills.values(), (skill) => ({ value: folderOf(skill.path), reveals: skill }));
        if (variable === "path")
          return suggest(value, files.values(), ({ entry }) => ({ value: entry.path, reveals: entry }));
        return [];
      },

      async skills(request) {
        return entriesPage([...(await catalogue.fresh()).skills.values()], request);
      },

      async skill(at) {
        const found = hasQuery(at) ? undefined : (await catalogue.fresh()).skills.get(at.path);
        if (found === undefined) throw notFound(at.path);
        return found;
      },

      async problems() {
        return (await catalogue.fresh()).problems;
      },

      filesOf: ({ path }) => roots.map((each) => ({ path: path === "" ? each.path : `${each.path}/${path}` })),

      watch: ({ signal }) => catalogue.watch(signal),
      noteChanges: (_changes, call) => catalogue.expire(call),
      close: () => catalogue.close(),
    };
  },
});

/** Prefix matches first, then other substring matches. */
function suggest<T>(typed: string, things: Iterable<T>, toSuggestion: (thing: T) => Suggestion): Suggestion[] {
  const all = Array.from(things, toSuggestion);
  const first = all.filter(({ value }) => value.startsWith(typed));
  const later = all.filter(({ value }) => !value.startsWith(typed) && value.includes(typed));
  return [...first, ...later];
}
