/** Holds listens open in a process of its own, and reports when the last of them has received an update. */
import { openListens } from "../listens.ts";

/** "arm" is answered with "armed"; then, once all have received the update, with the time of the system's monotonic clock. */
export type ListenersMessage = "ready" | "armed" | { readonly heardAt: string };

const [port, path = "", uri = "", count] = process.argv.slice(2);
const listens = await openListens(Number(port), path, uri, Number(count));
process.on("message", () => {
  void listens.heard().then(() => tell({ heardAt: String(process.hrtime.bigint()) }));
  tell("armed");
});
process.once("disconnect", () => listens.close());
tell("ready");

function tell(message: ListenersMessage): void {
  process.send?.(message);
}
