/** Checks again and again whether the server can be reached, so that the page tells the truth without a request of the person. */
import { wait } from "../lib/wait.ts";
import type { Picker } from "./create-picker.ts";

/** Together below two seconds. */
const pauseMs = 800;
const patienceMs = 1000;

/** `probe` fails if there is no response. Ends with the signal. */
export async function checkServer(
  picker: Pick<Picker, "state" | "start" | "setLost">,
  probe: (signal: AbortSignal) => Promise<unknown>,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    await wait(pauseMs, ended).catch(() => undefined);
    // A hidden page is checked when it is shown again.
    if (ended.aborted || document.visibilityState === "hidden") continue;
    const isReachable = await probe(AbortSignal.any([ended, AbortSignal.timeout(patienceMs)])).then(
      () => true,
      () => false,
    );
    if (!isReachable) picker.setLost();
    // The requests of a new start find out whether it responds again.
    else if (picker.state.isLost || picker.state.problemKind === "unavailable") await picker.start();
  }
}
