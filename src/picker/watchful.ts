/** Wraps Resources to report after each request whether the server can still be reached, and what a folder lists. */
import { ResourceError } from "../errors.ts";
import type { Resource } from "../resources.ts";
import type { PickerResources } from "./create-picker.ts";

export function watchful(
  pressmark: PickerResources,
  report: (isLost: boolean) => void,
  onListed: (folder: string, items: readonly Resource[]) => void,
): PickerResources {
  function watched<Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      try {
        const result = await method(...args);
        report(false);
        return result;
      } catch (cause) {
        const kind = cause instanceof ResourceError ? cause.kind : "unexpected";
        // Other failures do not tell whether there was a response.
        if (kind === "unavailable") report(true);
        else if (kind === "not-found" || kind === "invalid" || kind === "denied") report(false);
        throw cause;
      }
    };
  }
  const { tools, useTool } = pressmark;
  return {
    list: watched((...args) => pressmark.list(...args)),
    children: watched(async (uri, ...args) => {
      const page = await pressmark.children(uri, ...args);
      onListed(uri, page.items);
      return page;
    }),
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
