/** The picker as a custom element: a host puts it into a page and passes it Resources. */
import { render } from "preact";
import type { Resource, Resources } from "../resources.ts";
import { App } from "./app.tsx";
import { createPicker, type Picker } from "./create-picker.ts";
import { languageFor } from "./texts.ts";

export type { Resource, Resources } from "../resources.ts";

/**
 * `<pressmark-picker>`. Fires "choose" when the person confirms what they chose. Removed from the page it watches nothing;
 * inserted again, it starts over.
 */
export interface PickerElement extends HTMLElement {
  /** The resources to show. Setting another value starts over. */
  resources: Resources | undefined;
  /** The current content of the tray, in the person's order. */
  readonly chosen: readonly ChosenResource[];
}

/** A resource in the tray. */
export interface ChosenResource extends Resource {
  /** For a folder: URIs of files and folders below it that are not chosen. */
  readonly except?: readonly string[];
}

/** The `detail` of a "choose" event. */
export interface ChooseDetail {
  /** Never empty. Chosen folders are replaced by their files. */
  readonly resources: readonly Resource[];
  /** Number of folders that could not be listed: their files are missing. */
  readonly failed: number;
}

/** All styles of the picker, inserted by the build. */
declare const pickerStyle: string;

/** Defines the element under this name. Does nothing if it is defined already. */
export function definePicker(name = "pressmark-picker"): void {
  if (customElements.get(name)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(pickerStyle);

  // Declared here, so that the module can be loaded without a DOM.
  class PressmarkPicker extends HTMLElement implements PickerElement {
    static readonly observedAttributes = ["lang"];
    readonly #root = this.attachShadow({ mode: "open", delegatesFocus: true });
    #resources: Resources | undefined;
    #picker: Picker | undefined;
    #ended = new AbortController();

    constructor() {
      super();
      this.#root.adoptedStyleSheets = [sheet];
    }

    get resources(): Resources | undefined {
      return this.#resources;
    }

    set resources(next: Resources | undefined) {
      if (next === this.#resources) return;
      this.#resources = next;
      this.#begin();
    }

    #begin(): void {
      const next = this.#resources;
      this.#ended.abort();
      this.#ended = new AbortController();
      this.#picker = next && createPicker(async () => next, this.#ended.signal);
      // Removes everything of the previous resources, including the focus.
      render(null, this.#root);
      this.#draw();
      void this.#picker?.start();
    }

    get chosen(): readonly ChosenResource[] {
      return this.#picker?.state.tray.map(({ resource, except }) => ({ ...resource, ...(except && { except }) })) ?? [];
    }

    connectedCallback(): void {
      // A page may have set the property before the element was defined.
      const early = Object.getOwnPropertyDescriptor(this, "resources")?.value as Resources | undefined;
      if (early) {
        Reflect.deleteProperty(this, "resources");
        this.resources = early;
      } else if (this.#ended.signal.aborted) this.#begin();
      else this.#draw();
    }

    disconnectedCallback(): void {
      render(null, this.#root);
      // Unless it was only moved.
      queueMicrotask(() => {
        if (!this.isConnected) this.#ended.abort();
      });
    }

    attributeChangedCallback(): void {
      this.#draw();
    }

    #draw(): void {
      if (!this.isConnected || !this.#picker) return;
      const lang = this.closest("[lang]")?.getAttribute("lang");
      const language = languageFor(lang ? [lang] : navigator.languages);
      const use = (detail: ChooseDetail): void => {
        this.dispatchEvent(new CustomEvent<ChooseDetail>("choose", { detail, bubbles: true, composed: true }));
      };
      render(<App {...{ picker: this.#picker, language, use }} keys={this} />, this.#root);
    }
  }

  customElements.define(name, PressmarkPicker);
}

declare global {
  interface HTMLElementTagNameMap {
    "pressmark-picker": PickerElement;
  }
}
