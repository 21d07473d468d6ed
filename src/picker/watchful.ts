/** A house that says after each answer whether it can still be reached. */
import { ResourceError } from "../errors.ts";
import type { PickerHouse } from "./create-picker.ts";

export function watchful(house: PickerHouse, tell: (isLost: boolean) => void): PickerHouse {
  function told<Asked extends unknown[], Answer>(ask: (...asked: Asked) => Promise<Answer>) {
    return async (...asked: Asked): Promise<Answer> => {
      try {
        const answer = await ask(...asked);
        tell(false);
        return answer;
      } catch (cause) {
        const isLost = cause instanceof ResourceError && cause.kind === "unavailable";
        const isWithdrawn = cause instanceof ResourceError && cause.kind === "cancelled";
        if (!isWithdrawn) tell(isLost);
        throw cause;
      }
    };
  }
  const { tools, useTool } = house;
  return {
    list: told((...asked) => house.list(...asked)),
    children: told((...asked) => house.children(...asked)),
    read: told((...asked) => house.read(...asked)),
    templates: told((...asked) => house.templates(...asked)),
    complete: told((...asked) => house.complete(...asked)),
    stat: told((...asked) => house.stat(...asked)),
    search: told((...asked) => house.search(...asked)),
    watch: (...asked) => house.watch(...asked),
    get listFreshness() {
      return house.listFreshness;
    },
    ...(tools && { tools: told((call) => tools.call(house, call)) }),
    ...(useTool && { useTool: told((...asked) => useTool.apply(house, asked)) }),
  };
}
