/** Modifier keys of this machine's keyboard. */

export interface KeyNames {
  readonly control: string;
  readonly alt: string;
}

export function keyNames(): KeyNames {
  return isApple() ? { control: "⌘", alt: "⌥" } : { control: "Ctrl-", alt: "Alt-" };
}

/** On a Mac, Ctrl-K deletes the rest of a line. */
export function isCommandKey({ metaKey, ctrlKey }: KeyboardEvent): boolean {
  return isApple() ? metaKey : ctrlKey;
}

function isApple(): boolean {
  return /^(?:Mac|iP)/.test(navigator.platform);
}
