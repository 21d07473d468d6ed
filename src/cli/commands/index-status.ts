/** `pressmark index`: how the index of this house is, and how to make or remove it. */
import { ResourceError } from "../../errors.ts";
import { padToWidth } from "../../lib/display-width.ts";
import { defineCommand, flag, UsageError } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { counted, inUnits } from "../reading/amounts.ts";
import { atDesk, type Desk, deskFlags } from "../reading/desk.ts";
import { bringUpToDate, percent } from "../reading/indexing.ts";

export default defineCommand({
  name: "index",
  summary: "Bring the search index up to date, and say how it is",
  more: "Search does this by itself. --rebuild makes the index anew, --remove takes it away; a process that is serving has to be stopped before either.",
  examples: ["pressmark index", "pressmark index --rebuild", "pressmark index --remove"],
  flags: {
    rebuild: flag("make it anew"),
    remove: flag("take it away"),
    json: flag("one JSON object"),
    ...deskFlags,
  },
  async run({ flags }, world) {
    const { rebuild, remove, json } = flags;
    if (rebuild && remove) throw new UsageError("an index is made anew or taken away: leave out --rebuild or --remove");
    await atDesk(flags, world, async (desk) => {
      const { index } = desk;
      if (!index) throw new ResourceError("unsupported", "there is no index here");
      if (rebuild || remove) await index.remove();
      if (remove) return;
      await bringUpToDate(desk, { vectors: true });
      const status = index.kept?.status;
      if (index.failure) throw new ResourceError("unavailable", index.failure.message);
      if (!status)
        throw new ResourceError("unsupported", "the config says that nothing is indexed; see search.enabled");
      const place = index.place;
      await desk.print(json ? jsonLine({ place, ...status }) : shown({ place, ...status }, desk));
      if (status.problem) throw new ResourceError("unavailable", status.problem.message);
    });
  },
});

type Status = NonNullable<NonNullable<Desk["index"]>["kept"]>["status"] & {};

function shown({ place, mounts, bytes, embeddings }: Status & { readonly place: string }, { paint }: Desk): string {
  const width = Math.max(5, ...mounts.map(({ name }) => plain(name).length));
  const rows = mounts.map(({ name, state, documents, passages, ready }) => [
    plain(name),
    `${counted(documents, "document")}, ${counted(passages, "passage")}, ${state === "complete" ? state : `${state}, ${percent(ready)}`}`,
  ]);
  if (embeddings) rows.push(["vectors", `${plain(embeddings.model)}, ${embeddings.state}`]);
  rows.push(["place", plain(place)], ["size", inUnits(bytes)]);
  return rows.map(([label = "", value]) => `${paint.faint(padToWidth(label, width))}  ${value}\n`).join("");
}
