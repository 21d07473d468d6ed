/** The state folder, by the sets that a model saved there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callOf, listNames, type PartDefinition, readText } from "../part.ts";
import { filesBelow } from "./index.ts";

export const state: PartDefinition = {
  name: "state",
  folder: "state",

  async open(stage) {
    stage.write("member.md", "A member of every set.");
    const config = join(stage.root, "pressmark.config.json");
    const tools = ["search_resources", "list_resources", "read_resource", "save_set"];
    writeFileSync(
      config,
      JSON.stringify({ mounts: { served: { source: "file", root: stage.folder } }, server: { tools } }),
    );
    const prefix = "set://";
    const nameOf = (uri: string) => (uri.startsWith(prefix) ? `${uri.slice(prefix.length)}.md` : undefined);
    const uriOf = (name: string) => `${prefix}${name.replace(".md", "")}`;
    let server: Awaited<ReturnType<typeof stage.serve>>;
    return {
      start: async (options) => (server = await stage.serve({ ...options, config })),
      async put(name, text) {
        const said = await server.pressmark.useTool(
          "save_set",
          {
            replace: true,
            name: name.replace(".md", ""),
            uris: [stage.uri("member.md")],
            description: text.replaceAll("\n", " "),
          },
          callOf(),
        );
        if (!said.texts.join().startsWith("Saved")) throw new Error(`save_set answered ${said.texts.join()}`);
      },
      list: (from) => listNames(from, nameOf),
      async read(from, name) {
        const { description } = JSON.parse(await readText(from, uriOf(name))) as { description: string };
        return description;
      },
      watches: (name) => ({ uris: [uriOf(name)] }),
      files: () => [join(stage.root, "state", "pressmark"), ...filesBelow(join(stage.root, "state"))],
      losesTexts: true,
    };
  },
};
