/** The button of the state page: shown only to those who may see it; the page is loaded when it is opened. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Resources } from "../resources.ts";
import type { Shared } from "./app.tsx";
import type { StatePageProps } from "./state-page.tsx";
import { statusUri } from "./state-page-status.ts";

interface StateButtonProps extends Shared {
  /** The connected server, once there is one. */
  pressmark(): Resources | undefined;
}

const names = { en: "State", ja: "状態" };

export function StateButton({ picker, language, pressmark }: StateButtonProps) {
  const [found, setFound] = useState<Resources>();
  const [isOpen, setIsOpen] = useState(false);
  const [page, setPage] = useState<{ readonly Page: ComponentType<StatePageProps> }>();

  useEffect(() => {
    const ended = new AbortController();
    let checked: Resources | undefined;
    async function look(): Promise<void> {
      const there = picker.state.connection === "ready" ? pressmark() : undefined;
      if (!there || there === checked) return;
      checked = there;
      try {
        await there.stat(statusUri, { caller: { id: "picker" }, signal: ended.signal });
        setFound(there);
      } catch {
        // No permission, or a server without a status.
      }
    }
    picker.onChange(() => void look(), ended.signal);
    void look();
    return () => ended.abort();
  }, [picker]);

  useEffect(() => {
    if (!found) return undefined;
    const ended = new AbortController();
    const press = (event: KeyboardEvent): void => {
      if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== "KeyS") return;
      event.preventDefault();
      setIsOpen(true);
    };
    addEventListener("keydown", press, { signal: ended.signal });
    return () => ended.abort();
  }, [found]);

  useEffect(() => {
    if (isOpen && !page) void import("./state-page.tsx").then(({ StatePage }) => setPage({ Page: StatePage }));
  }, [isOpen, page]);

  if (!found) return null;
  return (
    <>
      <button type="button" aria-haspopup="dialog" aria-keyshortcuts="Alt+S" onClick={() => setIsOpen(true)}>
        {names[language.code]}
      </button>
      {isOpen && page && <page.Page {...{ picker, language }} pressmark={found} close={() => setIsOpen(false)} />}
    </>
  );
}
