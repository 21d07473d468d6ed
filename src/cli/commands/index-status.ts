/** `pressmark index`: how the index of this house is, and how to make or remove it. */
import { ResourceError } from "../../errors.ts";
import { padToWidth } from "../../lib/display-width.ts";
import { defineCommand, flag, UsageError } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount, formatUnits } from "../reading/amounts.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { bringUpToDate, formatPercent } from "../reading/indexing.ts";

export default defineCommand({
  name: "index",
  summary: "Bring the search index up to date, and say how it is",
  more: "Search does this by itself. --rebuild makes the index anew, --remove takes it away; a process that is serving has to be stopped before either.",
  examples: ["pressmark index", "pressmark index --rebuild", "pressmark index --remove"],
  flags: {
    rebuild: flag("make it anew"),
    remove: flag("take it away"),
    json: flag("one JSON object"),
    ...readingFlags,
  },
  async run({ flags }, world) {
    const { rebuild, remove, json } = flags;
    if (rebuild && remove) throw new UsageError("an index is made anew or taken away: leave out --rebuild or --remove");
    await withReadingContext(flags, world, async (context) => {
      const { index } = context;
      if (!index) throw new ResourceError("unsupported", "there is no index here");
      if (rebuild || remove) await index.remove();
      if (remove) return;
      await bringUpToDate(context, { vectors: true });
      const status = index.kept?.status;
      if (index.failure) throw new ResourceError("unavailable", index.failure.message);
      if (!status)
        throw new ResourceError("unsupported", "the config says that nothing is indexed; see search.enabled");
      const place = index.place;
      await context.print(json ? jsonLine({ place, ...status }) : shown({ place, ...status }, context));
      if (status.problem) throw new ResourceError("unavailable", status.problem.message);
    });
  },
});

type Status = NonNullable<NonNullable<ReadingContext["index"]>["kept"]>["status"] & {};

function shown(
  { place, mounts, bytes, embeddings }: Status & { readonly place: string },
  { paint }: ReadingContext,
): string {
  const width = Math.max(5, ...mounts.map(({ name }) => plain(name).length));
  const rows = mounts.map(({ name, state, documents, passages, ready }) => [
    plain(name),
    `${formatCount(documents, "document")}, ${formatCount(passages, "passage")}, ${state === "complete" ? state : `${state}, ${formatPercent(ready)}`}`,
  ]);
  if (embeddings) rows.push(["vectors", `${plain(embeddings.model)}, ${embeddings.state}`]);
  rows.push(["place", plain(place)], ["size", formatUnits(bytes)]);
  return rows.map(([label = "", value]) => `${paint.faint(padToWidth(label, width))}  ${value}\n`).join("");
}
