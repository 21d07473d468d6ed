/** Calls a function when an element comes near the visible part of the preview. */
import { useEffect, useRef } from "preact/hooks";

const marginPx = 800;

/** Checked again whenever one of `again` changes. */
export function useSight<E extends Element = HTMLDivElement>(act: () => void, again: readonly unknown[]) {
  const element = useRef<E>(null);
  useEffect(() => {
    if (!element.current) return undefined;
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && act(), {
      // A margin counts only around the scrolling element.
      root: element.current.closest(".content"),
      rootMargin: `${marginPx}px`,
    });
    observer.observe(element.current);
    return () => observer.disconnect();
    // `act` may only depend on the values in `again`.
  }, [...again]);
  return element;
}
