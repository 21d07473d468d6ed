/** Buttons of the dialogs for the owner: shown only to those who may read their resource; a dialog is loaded when it is opened. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Resources } from "../resources.ts";
import type { Shared } from "./app.tsx";
import type { StatePageProps } from "./state-page.tsx";
import { statusUri } from "./state-page-status.ts";

interface OwnerButtonsProps extends Shared {
  /** The connected server, once there is one. */
  pressmark(): Resources | undefined;
}

interface OwnerDialog {
  readonly uri: string;
  readonly names: Readonly<Record<"en" | "ja", string>>;
  /** With Alt. */
  readonly key: string;
  load(): Promise<ComponentType<StatePageProps>>;
}

const dialogs: readonly OwnerDialog[] = [
  {
    uri: statusUri,
    names: { en: "State", ja: "状態" },
    key: "S",
    load: async () => (await import("./state-page.tsx")).StatePage,
  },
  {
    uri: "pressmark://activity",
    names: { en: "Activity", ja: "アクティビティ" },
    key: "A",
    load: async () => (await import("./activity-page.tsx")).ActivityPage,
  },
];

export function OwnerButtons(props: OwnerButtonsProps) {
  return dialogs.map((dialog) => <OwnerButton key={dialog.uri} {...props} dialog={dialog} />);
}

function OwnerButton({ picker, language, pressmark, dialog }: OwnerButtonsProps & { readonly dialog: OwnerDialog }) {
  const { uri, names, key, load } = dialog;
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
        // A read, because a host answers a stat by walking the whole list.
        await there.read(uri, { caller: { id: "picker" }, signal: ended.signal });
        setFound(there);
      } catch {
        // No permission, or a server without this resource.
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
      if (!event.altKey || event.ctrlKey || event.metaKey || event.code !== `Key${key}`) return;
      event.preventDefault();
      // One dialog at a time.
      if (!document.querySelector("dialog[open]")) setIsOpen(true);
    };
    addEventListener("keydown", press, { signal: ended.signal });
    return () => ended.abort();
  }, [found]);

  useEffect(() => {
    if (isOpen && !page) void load().then((Page) => setPage({ Page }));
  }, [isOpen, page]);

  if (!found) return null;
  return (
    <>
      <button type="button" aria-haspopup="dialog" aria-keyshortcuts={`Alt+${key}`} onClick={() => setIsOpen(true)}>
        {names[language.code]}
      </button>
      {isOpen && page && <page.Page {...{ picker, language }} pressmark={found} close={() => setIsOpen(false)} />}
    </>
  );
}
