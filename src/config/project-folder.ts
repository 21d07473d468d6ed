/** Reads the folder of a project for `detect` of the sources: a bounded part of it, and no value that may be a secret. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { smallText } from "../backends/git/repository.ts";
import type { ProjectFolder, ProjectVariable } from "../source.ts";
import { composeFiles, exampleFiles } from "../sources/config/settings-files.ts";
import { containersIn } from "./compose-containers.ts";

/** A variable is known from the first of these that has it. */
const envFiles = [".env.local", ".env.development.local", ".env.development", ".env", ...exampleFiles];
const maxBytes = 256 * 1024;

export function createProjectFolder(path: string): ProjectFolder {
  const listed = new Map<string, ReturnType<ProjectFolder["entries"]>>();
  const text = (file: string): string => smallText(join(path, file), maxBytes) ?? "";
  const variables = envFiles.flatMap((file) => variablesIn(file, text(file)));
  const names = new Set<string>();
  return {
    path,
    entries(folder = "") {
      if (!listed.has(folder)) listed.set(folder, entriesIn(join(path, folder)));
      return listed.get(folder)!;
    },
    text,
    variables: variables.filter(({ name }) => !names.has(name) && names.add(name)),
    containers: composeFiles.flatMap((file) => containersIn(file, text(file))),
  };
}

function entriesIn(folder: string): ReturnType<ProjectFolder["entries"]> {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    return [];
  }
}

function variablesIn(file: string, text: string): ProjectVariable[] {
  const lines = text.matchAll(
    /^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)[ \t]*=[ \t]*["']?([a-z][a-z0-9+.-]*:[^\s"']*)?/gm,
  );
  return Array.from(lines, ([, name = "", url]) => ({
    name,
    file,
    scheme: url?.slice(0, url.indexOf(":")),
    host: url !== undefined && URL.canParse(url) ? new URL(url).hostname : undefined,
  }));
}
