/** The commands of the palette that are possible at present. */
import { shownTitle } from "./shown-title.ts";
import type { Language } from "./texts.ts";
import { whyNotCopied } from "./copy-button.tsx";
import { copyText } from "./copy-text.ts";
import type { Form } from "./create-choosing.ts";
import type { Picker } from "./create-picker.ts";
import { isFiltered, noFilters } from "./filter-search.ts";
import { paletteTexts } from "./palette-texts.ts";
import { choiceOf } from "./tray.ts";
import { writtenTexts } from "./written-texts.ts";

export interface PaletteCommand {
  /** English words, so that a command is also found by them in another language. */
  readonly id: string;
  readonly name: string;
  /** Returns a message for the person, if there is one. */
  run(): unknown;
}

export interface PaletteContext {
  readonly picker: Picker;
  readonly language: Language;
  readonly toggleFilters: () => void;
  readonly focusSearch: (text?: string) => void;
  /** Its buttons in the header, which are hidden on a narrow page, and visible ones in the tray are commands, too. */
  readonly page: Element;
}

const forms: readonly Form[] = ["markdown", "xml", "uris"];
const pageButtons = ".extra > :is(button, a[href]), [data-command]";

export function commandsOf({
  picker,
  language,
  toggleFilters,
  focusSearch,
  page,
}: PaletteContext): readonly PaletteCommand[] {
  const { code, texts } = language;
  const words = paletteTexts(code);
  const { preview, search, tools, tray } = picker.state;
  const resource = preview?.resource;
  const name = resource && shownTitle(resource);
  const views = (["tree", "templates", "gather"] as const).filter(
    (view) => view !== "gather" || tools.has("gather_context"),
  );
  const isChosen = resource && choiceOf(tray, resource.uri) === "all";
  return [
    ...(resource && name !== undefined
      ? [
          {
            id: isChosen ? "remove this" : "choose this",
            name: isChosen ? words.unchoose(name) : words.choose(name),
            run: () => picker.toggle(resource),
          },
          { id: "show folder", name: words.reveal(name), run: () => picker.reveal(resource.uri) },
          { id: "copy uri of this", name: words.copyUri(name), run: () => copy(async () => resource.uri) },
        ]
      : []),
    { id: "search", name: words.search, run: () => focusSearch() },
    ...views.map((view) => ({
      id: `show ${view}`,
      name: words.show[view],
      run: () => {
        picker.endSearch();
        picker.show(view);
      },
    })),
    { id: "filters", name: words.filters, run: toggleFilters },
    ...(isFiltered(search.filters)
      ? [{ id: "clear filters", name: words.clearFilters, run: () => picker.filter(noFilters) }]
      : []),
    ...(tray.length > 0
      ? [
          ...forms.map((form) => ({ id: `copy ${form}`, name: words.copy[form], run: () => copyChosen(form) })),
          { id: "clear tray", name: words.clearTray, run: picker.clearTray },
        ]
      : []),
    ...[...page.querySelectorAll<HTMLElement>(pageButtons)]
      .filter((button) => !button.matches(":disabled") && (button.closest(".extra") || isVisible(button)))
      .map((button, index) => ({
        id: `button ${index}`,
        name: button.ariaLabel ?? button.textContent.trim(),
        run: () => {
          // A panel that the button opens comes after it in the order of the Tab key.
          button.focus();
          button.click();
        },
      })),
  ];

  async function copyChosen(form: Form): Promise<string> {
    let left = "";
    const message = await copy(async () => {
      const made = await picker.written(form);
      left = writtenTexts(language).leftOut(made);
      return made.text;
    });
    return message === texts.copied ? message + left : message;
  }

  async function copy(text: () => Promise<string>): Promise<string> {
    try {
      await copyText(text());
      return texts.copied;
    } catch (cause) {
      return whyNotCopied(cause, texts);
    }
  }
}

function isVisible(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true });
}

/** Returns whether each word of the text is contained in one of the names. */
export function fits(text: string, ...names: readonly string[]): boolean {
  const all = folded(names.join("\n"));
  return folded(text)
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
