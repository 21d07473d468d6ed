/** `pressmark set`: lists, shows and changes named sets of resources. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { ownTitle } from "../../lib/own-title.ts";
import { formatCount } from "../reading/amounts.ts";
import { inRows } from "../reading/columns.ts";
import { notFound, quote } from "../../errors.ts";
import type { Resource } from "../../resources.ts";
import { defineCommand, filledTextFlag, flag, many, optional, UsageError, type CommandContext } from "../command.ts";
import { jsonLine, plain, print } from "../print.ts";
import {
  withReadingContext,
  type ReadingContext,
  type ReadingFlags,
  readingFlags,
} from "../reading/reading-context.ts";

const actions = ["list", "show", "add", "remove"] as const;

export default defineCommand({
  name: "set",
  summary: "List, show and change named sets of resources",
  more: "Each set is a prompt in hosts and the resource set://NAME. A set is written into the project's config, and the rest of the file stays unchanged; without a config, or if the config is a program, it is stored in the state folder for this project. With server.state, a new set is stored in the database that instances share. remove removes resources from a set, or without any the set itself.",
  examples: [
    "pressmark set add onboarding README.md docs/setup.md --title 'First day'",
    "pressmark set list",
    "pressmark set show onboarding",
    "pressmark set remove onboarding docs/setup.md",
  ],
  takes: {
    action: optional("Action. Default: list", actions),
    name: optional("Name of the set"),
    resources: many("Resources (URIs or paths)", "files"),
  },
  flags: {
    title: filledTextFlag("TEXT", "Title to show instead of the name"),
    description: filledTextFlag("TEXT", "Description of the set"),
    json: flag("Print one JSON object per line"),
    ...readingFlags,
  },
  async run({ action = "list", name, resources, flags }, world) {
    const isChange = action === "add" || action === "remove";
    if (action === "list" ? name !== undefined : name === undefined)
      throw new UsageError(
        action === "list" ? "list takes no name; show takes one" : `${action} needs the name of a set`,
      );
    if (action === "show" && resources.length > 0) throw new UsageError("show takes only the name of a set");
    if (action === "add" && resources.length === 0)
      throw new UsageError("name the resources to add, as in: pressmark set add onboarding README.md");
    if (action !== "add" && (flags.title !== undefined || flags.description !== undefined))
      throw new UsageError("--title and --description work only with add");
    if (isChange) return change(action, name!, resources, flags, world);
    await withReadingContext(flags, world, (context) =>
      action === "list" ? list(flags.json, context) : show(name!, flags.json, context),
    );
  },
});

async function list(json: boolean, context: ReadingContext): Promise<void> {
  const { items } = await context.resources.children("set://", {}, context.call);
  if (json) return context.print(items.map(jsonLine).join(""));
  if (items.length === 0) context.warn("there are no sets; create one with: pressmark set add NAME URI…");
  await context.print(inRows(items.map((item) => [plain(item.name), plain(ownTitle(item) ?? item.description ?? "")])));
}

async function show(name: string, json: boolean, context: ReadingContext): Promise<void> {
  const uri = `set://${encodeURIComponent(name)}`;
  const { contents } = await context.resources.read(uri, context.call);
  const index = contents.find((content) => content.uri === uri);
  if (!index || !("text" in index.body)) throw notFound(uri);
  const { resources = [] } = JSON.parse(index.body.text) as { readonly resources?: readonly Resource[] };
  if (json) return context.print(resources.map(jsonLine).join(""));
  await context.print(
    inRows(
      resources.map((resource) => [
        plain(resource.uri),
        resource.size === undefined ? "" : formatBytes(resource.size),
        plain(ownTitle(resource) ?? ""),
      ]),
    ),
  );
}

async function change(
  action: "add" | "remove",
  name: string,
  words: readonly string[],
  flags: ChangeFlags,
  world: CommandContext,
): Promise<void> {
  const { changeSet } = await import("../../server/sets/change-set.ts");
  const { title, description, folder, config } = flags;
  if (flags.server !== undefined)
    throw new UsageError("sets of another server cannot be changed from here; leave out --server");
  const call = { caller: { id: "local", owner: true }, signal: world.signal };
  const wanted = action === "add" ? { add: words, title, description } : { remove: words };
  const { folder: from, env, err } = world;
  const { place, resources } = await changeSet({ name, ...wanted }, { folders: folder, config, from, env, err }, call);
  if (flags.json) return print(world.out, jsonLine({ name, place, resources: resources ?? [] }));
  const now = resources ? `holds ${formatCount(resources.length, "resource")}, and is stored in` : "was removed from";
  await print(world.out, `the set ${quote(name)} ${now} ${plain(place)}\n`);
}

interface ChangeFlags extends ReadingFlags {
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly json: boolean;
}
