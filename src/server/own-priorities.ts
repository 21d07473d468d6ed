/** Resources without the priorities that they have only from their mount: these do not tell documents of a mount apart. */
import { withMembers } from "../lib/with-members.ts";
import type { NamedMount } from "../protocol/tools/mounts.ts";
import type { Page, Resource, Resources } from "../resources.ts";
import type { Source } from "../source.ts";

interface PrioritisedMount extends NamedMount {
  readonly source?: Pick<Source, "isRanked">;
}

export function withOwnPriorities(resources: Resources, mounts: readonly PrioritisedMount[]): Resources {
  // All documents of a ranked mount have priorities of their own, which may equal that of the mount.
  const prioritised = mounts.filter(({ priority, source }) => priority !== undefined && !source?.isRanked);
  if (prioritised.length === 0) return resources;

  function own(resource: Resource): Resource {
    const { priority, ...annotations } = resource.annotations ?? {};
    const isFromMount = prioritised.some((mount) => mount.priority === priority && resource.uri.startsWith(mount.base));
    return isFromMount ? { ...resource, annotations } : resource;
  }

  const ofPage = (page: Page<Resource>) => ({ ...page, items: page.items.map(own) });
  return withMembers(resources, {
    stat: async (uri, call) => own(await resources.stat(uri, call)),
    list: async (request, call) => ofPage(await resources.list(request, call)),
    children: async (uri, request, call) => ofPage(await resources.children(uri, request, call)),
  });
}
