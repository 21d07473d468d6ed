/** The title of a resource, where it says more than the path. Without a title of its own, a resource has its path as title. */
export function ownTitle({ name, title }: { readonly name: string; readonly title?: string }): string | undefined {
  return title === undefined || title === name || title.endsWith(`/${name}`) ? undefined : title;
}

/** For places that show the path or URI as well. */
export function shortTitle(resource: { readonly name: string; readonly title?: string }): string {
  return ownTitle(resource) ?? resource.name;
}
