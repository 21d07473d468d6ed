/** Charges callers for the entries that they list and find. */
import { withMembers } from "../lib/with-members.ts";
import type { Call, Resources } from "../resources.ts";
import type { Quotas } from "../access/quotas.ts";

export function createMeteredResources(inner: Resources, quotas: Pick<Quotas, "charge">): Resources {
  function charged<Args extends readonly unknown[], Result>(
    method: (...args: [...Args, Call]) => Promise<Result>,
    entriesOf: (result: Result) => readonly unknown[],
  ) {
    return async (...args: [...Args, Call]): Promise<Result> => {
      const result = await method(...args);
      const { caller } = args[args.length - 1] as Call;
      quotas.charge(caller, "entries", entriesOf(result).length);
      return result;
    };
  }

  return withMembers<Resources>(inner, {
    list: charged(inner.list, itemsOf),
    children: charged(inner.children, itemsOf),
    templates: charged(inner.templates, itemsOf),
    search: charged(inner.search, ({ hits }) => hits),
    ...(inner.skills && { skills: charged(inner.skills, itemsOf) }),
  });
}

function itemsOf({ items }: { readonly items: readonly unknown[] }): readonly unknown[] {
  return items;
}
