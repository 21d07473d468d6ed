/** `pressmark index`: updates, rebuilds or removes the search index, and shows its status. */
import { formatBytes } from "../../lib/format-bytes.ts";
import { ResourceError } from "../../errors.ts";
import { defineCommand, flag, UsageError } from "../command.ts";
import { jsonLine, plain } from "../print.ts";
import { formatCount } from "../reading/amounts.ts";
import { inRows } from "../reading/columns.ts";
import { withReadingContext, type ReadingContext, readingFlags } from "../reading/reading-context.ts";
import { bringUpToDate, formatPercent } from "../reading/indexing.ts";

export default defineCommand({
  name: "index",
  summary: "Update the search index, and show its status",
  more: "Search updates the index by itself. --rebuild builds it from scratch, --remove deletes it; stop any running server before either.",
  examples: ["pressmark index", "pressmark index --rebuild", "pressmark index --remove"],
  flags: {
    rebuild: flag("Rebuild the index from scratch"),
    remove: flag("Delete the index"),
    json: flag("Print one JSON object"),
    ...readingFlags,
  },
  async run({ flags }, world) {
    const { rebuild, remove, json } = flags;
    if (rebuild && remove) throw new UsageError("choose --rebuild or --remove, not both");
    await withReadingContext(flags, world, async (context) => {
      const { index } = context;
      if (!index) throw new ResourceError("unsupported", "there is no index here");
      if (rebuild || remove) await index.remove();
      if (remove) return;
      await bringUpToDate(context, { vectors: true });
      const { status } = index;
      if (!status) throw new ResourceError("unsupported", "the config disables the index; see search.enabled");
      const place = index.place;
      await context.print(json ? jsonLine({ place, ...status }) : shown({ place, ...status }, context));
      if (status.problem) throw new ResourceError("unavailable", status.problem.message);
    });
  },
});

type Status = NonNullable<ReadingContext["index"]>["status"] & {};

function shown(
  { place, mounts, bytes, embeddings }: Status & { readonly place: string },
  { paint }: ReadingContext,
): string {
  const rows = mounts.map(({ name, state, documents, passages, ready }) => [
    plain(name),
    `${formatCount(documents, "document")}, ${formatCount(passages, "passage")}, ${state === "complete" ? state : `${state}, ${formatPercent(ready)}`}`,
  ]);
  if (embeddings) rows.push(["vectors", `${plain(embeddings.model)}, ${embeddings.state}`]);
  rows.push(["place", plain(place)]);
  if (bytes !== undefined) rows.push(["size", formatBytes(bytes)]);
  return inRows(rows, paint.faint);
}
