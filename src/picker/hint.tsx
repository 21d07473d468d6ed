/** In an empty area: what it is for, and the next steps as buttons. */
import type { ComponentChildren } from "preact";

interface HintProps {
  readonly title: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

export function Hint({ title, text, children }: HintProps) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      <p>{text}</p>
      <div class="actions">{children}</div>
    </div>
  );
}
