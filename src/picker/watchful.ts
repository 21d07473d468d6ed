/** Wraps Resources to report after each request whether the server can still be reached. */
import { ResourceError } from "../errors.ts";
import type { PickerResources } from "./create-picker.ts";

export function watchful(pressmark: PickerResources, report: (isLost: boolean) => void): PickerResources {
  function watched<Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      try {
        const result = await method(...args);
        report(false);
        return result;
      } catch (cause) {
        const isLost = cause instanceof ResourceError && cause.kind === "unavailable";
        const isCancelled = cause instanceof ResourceError && cause.kind === "cancelled";
        if (!isCancelled) report(isLost);
        throw cause;
      }
    };
  }
  const { tools, useTool } = pressmark;
  return {
    list: watched((...args) => pressmark.list(...args)),
    children: watched((...args) => pressmark.children(...args)),
    read: watched((...args) => pressmark.read(...args)),
    templates: watched((...args) => pressmark.templates(...args)),
    complete: watched((...args) => pressmark.complete(...args)),
    stat: watched((...args) => pressmark.stat(...args)),
    search: watched((...args) => pressmark.search(...args)),
    watch: (...args) => pressmark.watch(...args),
    get listFreshness() {
      return pressmark.listFreshness;
    },
    ...(tools && { tools: watched((call) => tools.call(pressmark, call)) }),
    ...(useTool && { useTool: watched((...args) => useTool.apply(pressmark, args)) }),
  };
}
