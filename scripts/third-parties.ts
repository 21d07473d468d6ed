/** Whose code is in the bundles: the notices that their licences ask for go where the code goes. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "rolldown";

const folders = new Set<string>();

/** Notes what ends up in a bundle. */
export const thirdParties: Plugin = {
  name: "third-parties",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
    for (const id of chunks.flatMap(({ moduleIds }) => moduleIds)) {
      const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];
      if (folder !== undefined) folders.add(folder);
    }
  },
};

/** Of all that was noted. Throws where a package says nothing of its licence. */
export async function noticesOfThirdParties(): Promise<string> {
  const notices = await Promise.all([...folders].sort().map(noticeOf));
  return `The files beside this one hold code of others.\n\n${notices.join("\n\n")}\n`;
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  if (license === undefined) throw new Error(`${name} does not say under which licence it is`);
  const file = (await readdir(folder)).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each));
  const text = file === undefined ? "" : `\n\n${(await readFile(join(folder, file), "utf8")).trim()}`;
  return `## ${name} ${version} (${license})${text}`;
}
