/** Wraps Resources to report after each request whether the server can still be reached. */
import { ResourceError } from "../errors.ts";
import type { PickerResources } from "./create-picker.ts";

export function watchful(pressmark: PickerResources, tell: (isLost: boolean) => void): PickerResources {
  function told<Asked extends unknown[], Answer>(ask: (...asked: Asked) => Promise<Answer>) {
    return async (...asked: Asked): Promise<Answer> => {
      try {
        const answer = await ask(...asked);
        tell(false);
        return answer;
      } catch (cause) {
        const isLost = cause instanceof ResourceError && cause.kind === "unavailable";
        const isCancelled = cause instanceof ResourceError && cause.kind === "cancelled";
        if (!isCancelled) tell(isLost);
        throw cause;
      }
    };
  }
  const { tools, useTool } = pressmark;
  return {
    list: told((...asked) => pressmark.list(...asked)),
    children: told((...asked) => pressmark.children(...asked)),
    read: told((...asked) => pressmark.read(...asked)),
    templates: told((...asked) => pressmark.templates(...asked)),
    complete: told((...asked) => pressmark.complete(...asked)),
    stat: told((...asked) => pressmark.stat(...asked)),
    search: told((...asked) => pressmark.search(...asked)),
    watch: (...asked) => pressmark.watch(...asked),
    get listFreshness() {
      return pressmark.listFreshness;
    },
    ...(tools && { tools: told((call) => tools.call(pressmark, call)) }),
    ...(useTool && { useTool: told((...asked) => useTool.apply(pressmark, asked)) }),
  };
}
