/** Acts when an element comes near to what is seen of the preview. */
import { useEffect, useRef } from "preact/hooks";

const marginPx = 800;

/** Looked at anew whenever one of `again` is another. */
export function useSight<E extends Element = HTMLDivElement>(act: () => void, again: readonly unknown[]) {
  const element = useRef<E>(null);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && act(), {
      // A margin counts only around the element that scrolls.
      root: element.current.closest(".content"),
      rootMargin: `${marginPx}px`,
    });
    observer.observe(element.current);
    return () => observer.disconnect();
    // What `act` does is settled by what it is looked at again for.
  }, [...again]);
  return element;
}
