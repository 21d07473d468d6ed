/** "Use in…": the button that opens the menu of ways from the tray into a host. The menu is loaded when it is first opened. */
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Shared } from "./app.tsx";
import type { UseMenuProps } from "./use-menu.tsx";

interface UseInProps extends Shared {
  /** Shows what happened, beside the button. */
  readonly say: (text: string) => void;
}

const names = { en: "Use in…", ja: "ホストで使う…" };

export function UseIn({ picker, language, say }: UseInProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setIsOpen] = useState(false);
  const [menu, setMenu] = useState<{ readonly Menu: ComponentType<UseMenuProps> }>();
  const isEmpty = picker.state.tray.length === 0;

  useEffect(() => {
    if (isOpen && !menu)
      import("./use-menu.tsx").then(
        ({ UseMenu }) => setMenu({ Menu: UseMenu }),
        () => {
          setIsOpen(false);
          say(language.texts.failed);
        },
      );
  }, [isOpen, menu]);

  return (
    <>
      <button
        ref={button}
        type="button"
        class="use"
        data-command
        aria-haspopup="menu"
        aria-expanded={isOpen}
        disabled={isEmpty}
        onClick={() => setIsOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          setIsOpen(true);
        }}
      >
        {names[language.code]}
      </button>
      {isOpen && menu && !isEmpty && (
        <menu.Menu
          {...{ picker, language, say }}
          button={button}
          label={names[language.code]}
          close={() => setIsOpen(false)}
        />
      )}
    </>
  );
}
