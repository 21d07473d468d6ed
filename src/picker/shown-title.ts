/** Names as the page shows them: no character of a name may be invisible or reverse the others (`evil\u202Egnp.txt`). */
import { shortTitle } from "../lib/own-title.ts";
import { visibleName } from "../lib/visible-text.ts";

interface Titled {
  readonly name: string;
  readonly title?: string;
}

/** For places that show the path or URI as well. */
export function shownTitle(resource: Titled): string {
  return visibleName(shortTitle(resource));
}

/** For places that show nothing else of it. */
export function shownFullTitle({ name, title = name }: Titled): string {
  return visibleName(title);
}
