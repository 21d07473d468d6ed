/** A component that is loaded when it is first needed. */
import type { ComponentChild } from "preact";
import { useEffect, useErrorBoundary, useMemo, useState } from "preact/hooks";

export type Load<P> = () => Promise<{ readonly default: (props: P) => ComponentChild }>;

interface LazilyProps<P> {
  /** Must be the same function each time. */
  readonly load: Load<P>;
  /** Drawn again only when this is another object. */
  readonly props: P;
  /** Shown until it is loaded, and if loading or drawing fails. */
  readonly meanwhile: (state: "loading" | "failed") => ComponentChild;
}

const loaded = new Map<unknown, unknown>();

export function Lazily<P>({ load, props, meanwhile }: LazilyProps<P>) {
  const [broken, forget] = useErrorBoundary();
  const [failed, setFailed] = useState<Load<P>>();
  const [, redraw] = useState({});
  // Only this component fills the map, and each loader with its own component.
  const Part = loaded.get(load) as ((props: P) => ComponentChild) | undefined;
  useEffect(() => {
    if (broken !== undefined) forget();
    // An error with one content need not occur with the next.
  }, [props]);
  useEffect(() => {
    let isWanted = true;
    if (!Part)
      load().then(
        (module) => {
          loaded.set(load, module.default);
          if (isWanted) redraw({});
        },
        () => isWanted && setFailed(() => load),
      );
    return () => {
      isWanted = false;
    };
  }, [load]);
  // Memoised: the same element is not drawn again, whatever else changes on the page.
  const element = useMemo(() => Part && <Part {...(props as P & object)} />, [Part, props]);
  if (broken !== undefined || failed === load) return <>{meanwhile("failed")}</>;
  return <>{element ?? meanwhile("loading")}</>;
}
