/** A path on one line. If it is too long, its folders are cut, so that the name at its end stays visible. */
export function PathText({ path, title }: { readonly path: string; readonly title?: string }) {
  const at = path.lastIndexOf("/") + 1;
  return (
    <span class="path-text" title={title}>
      <span class="path-folders">{path.slice(0, at)}</span>
      <span class="path-name">{path.slice(at)}</span>
    </span>
  );
}
