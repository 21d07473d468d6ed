/** Charges callers for the entries that they list, find, or have examined by a filter. */
import { withMembers } from "../lib/with-members.ts";
import type { Call, FilteredPageRequest, Page, Resources } from "../resources.ts";
import type { Quotas } from "../access/quotas.ts";

export function createMeteredResources(inner: Resources, quotas: Pick<Quotas, "charge">): Resources {
  function charged<Args extends readonly unknown[], Result>(
    method: (...args: [...Args, Call]) => Promise<Result>,
    countOf: (result: Result) => number,
  ) {
    return async (...args: [...Args, Call]): Promise<Result> => {
      const result = await method(...args);
      const { caller } = args[args.length - 1] as Call;
      quotas.charge(caller, "entries", countOf(result));
      return result;
    };
  }

  return withMembers<Resources>(inner, {
    // A client that cancels before the end pays for what a filter has examined.
    list: charged(
      (request: FilteredPageRequest, call) =>
        inner.list({ ...request, onFailure: (count) => quotas.charge(call.caller, "entries", count) }, call),
      examined,
    ),
    children: charged(inner.children, examined),
    templates: charged(inner.templates, examined),
    search: charged(inner.search, ({ hits }) => hits.length),
    ...(inner.skills && { skills: charged(inner.skills, examined) }),
  });
}

/** An entry that a filter leaves out costs as much as one that is listed. */
function examined({ items, filteredOut = 0 }: Page<unknown>): number {
  return items.length + filteredOut;
}
