/** Tabs: one stop for the Tab key, arrow keys between them. */
import { useRef } from "preact/hooks";

interface Tab<Id extends string> {
  readonly id: Id;
  readonly name: string;
  /** Id of the element that this tab shows, if each has its own. */
  readonly controls?: string;
  /** Path of an icon of 16 by 16. */
  readonly icon?: string;
  readonly badge?: number;
}

interface TabsProps<Id extends string> {
  readonly label: string;
  /** Id of the element that shows the selected tab. */
  readonly controls?: string;
  readonly tabs: readonly Tab<Id>[];
  readonly chosen: Id;
  readonly choose: (id: Id) => void;
}

export function Tabs<Id extends string>({ label, controls, tabs, chosen, choose }: TabsProps<Id>) {
  const list = useRef<HTMLDivElement>(null);

  function onKeyDown(event: KeyboardEvent): void {
    const at = tabs.findIndex(({ id }) => id === chosen);
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: tabs.length - 1,
    };
    const step = steps[event.key];
    const next = step === undefined ? undefined : tabs[(step + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    choose(next.id);
    list.current?.querySelector<HTMLElement>(`#tab-${next.id}`)?.focus();
  }

  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
      {tabs.map(({ id, name, controls: own = controls, icon, badge }) => (
        <button
          key={id}
          id={`tab-${id}`}
          type="button"
          role="tab"
          aria-selected={id === chosen}
          aria-controls={own}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => choose(id)}
        >
          {icon !== undefined && (
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <path d={icon} />
            </svg>
          )}
          {name}
          {badge !== undefined && <span class="tab-badge">{badge}</span>}
        </button>
      ))}
    </div>
  );
}
