/** A link to another resource of the same repository, or only its text if there is none. */
import type { ComponentChildren } from "preact";
import type { ViewProps } from "./view.ts";

interface GitLinkProps extends Pick<ViewProps, "follow"> {
  readonly to: string | undefined;
  readonly children: ComponentChildren;
}

export function GitLink({ to, follow, children }: GitLinkProps) {
  if (to === undefined) return <>{children}</>;
  return (
    <button type="button" class="link" title={to} onClick={() => follow(to)}>
      {children}
    </button>
  );
}
