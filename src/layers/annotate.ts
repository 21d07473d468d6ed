/** Gives entries the priority and audience of their mount where they have none of their own. */
import { type Layer, wrapSource } from "../layer.ts";
import type { Annotations, Page } from "../resources.ts";
import { type Entry, type SourceHit, type SourceHits, toSourceHits } from "../source.ts";

export type MountAnnotations = Pick<Annotations, "priority" | "audience">;

export function annotate(defaults: MountAnnotations): Layer {
  function annotated<E extends Pick<Entry, "annotations">>(entry: E): E {
    const { priority = defaults.priority, audience = defaults.audience } = entry.annotations ?? {};
    return { ...entry, annotations: { ...entry.annotations, ...defined({ priority, audience }) } };
  }
  return (inner) =>
    wrapSource(inner, (operation, method) => {
      switch (operation) {
        case "stat":
          return async (...args) => annotated((await method(...args)) as Entry);
        case "list":
        case "listIndexed":
        case "children":
          return async (...args) => {
            const page = (await method(...args)) as Page<Entry>;
            return { ...page, items: page.items.map(annotated) };
          };
        case "search":
          return async (...args) => {
            const found = toSourceHits((await method(...args)) as readonly SourceHit[] | SourceHits);
            return { ...found, hits: found.hits.map((hit) => ({ ...hit, entry: annotated(hit.entry) })) };
          };
        default:
          return method;
      }
    });
}

/** The layer of a mount; none if the mount has no annotations. */
export function annotateLayers({ priority, audience }: MountAnnotations): readonly Layer[] {
  if (priority === undefined && audience === undefined) return [];
  return [annotate({ priority, audience })];
}

function defined({ priority, audience }: MountAnnotations): MountAnnotations {
  return { ...(priority !== undefined && { priority }), ...(audience && { audience }) };
}
