/** Gathers for a task with the server's tool, and parses its receipt. */
import { ResourceError } from "../errors.ts";
import type { Expansion } from "./create-folder-choice.ts";
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";

/** The maximum of the tool. */
const maxBudget = 200_000;
export const maxInclude = 50;

export function createGathering(part: PagePart, expanded: () => Promise<Expansion>) {
  let asking = new AbortController();

  async function gather(task: string, withChosen: boolean, ofBranch: boolean): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const { budget } = part.state;
    part.change({ gathering: { status: "loading", text: "", task } });
    try {
      const { useTool } = part.pressmark();
      if (!useTool) throw new ResourceError("unsupported", "this server cannot gather");
      const include = withChosen ? (await expanded()).resources.slice(0, maxInclude).map(({ uri }) => uri) : [];
      const args = {
        ...(task !== "" && { task }),
        ...(ofBranch && { changed: "default" }),
        budget: Math.min(budget, maxBudget),
        ...(include.length > 0 && { include }),
      };
      const result = await useTool("gather_context", args, part.call(signal));
      const { toReceipt } = await import("./receipt.ts");
      if (signal.aborted) return;
      const receipt = toReceipt(result);
      if (!receipt) throw new ResourceError("unexpected", "the server returned no receipt");
      // The first text gives the size, the second is the gathered text.
      part.change({ gathering: { status: "ready", receipt, text: result.texts[1] ?? "", task } });
    } catch (cause) {
      if (!signal.aborted) part.change({ gathering: { status: "failed", text: "", task, problem: messageOf(cause) } });
    }
  }

  return {
    /** Within the budget of the tray; includes the chosen resources first, and the changes of the branch, if requested. */
    gather: (task: string, withChosen: boolean, ofBranch = false) => void gather(task, withChosen, ofBranch),
  };
}
