/** The picker as a custom element: a host author puts it into a page and hands it Resources. */
import { render } from "preact";
import type { Resource, Resources } from "../resources.ts";
import { App } from "./app.tsx";
import { createPicker, type Picker } from "./create-picker.ts";
import { languageFor } from "./texts.ts";

export type { Resource, Resources } from "../resources.ts";

/**
 * `<pressmark-picker>`. Fires "choose" when the person hands over what they chose. Taken out of the page it watches nothing any more;
 * put back, it begins anew.
 */
export interface PickerElement extends HTMLElement {
  /** What is shown. Another one begins anew. */
  resources: Resources | undefined;
  /** What is in the tray just now, in the person's order. */
  readonly chosen: readonly Resource[];
}

/** What a "choose" event carries in `detail`. */
export interface ChooseDetail {
  readonly resources: readonly Resource[];
}

/** All of the picker's styles, put here by the build. */
declare const pickerStyle: string;

/** Makes the element known to the page under this name. Does nothing where it is known already. */
export function definePicker(name = "pressmark-picker"): void {
  if (customElements.get(name)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(pickerStyle);

  // Made here, so that the module can be loaded where there are no elements.
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
      // What belonged to the one before is gone, focus and all.
      render(null, this.#root);
      this.#draw();
      void this.#picker?.start();
    }

    get chosen(): readonly Resource[] {
      return this.#picker?.state.tray.map(({ resource }) => resource) ?? [];
    }

    connectedCallback(): void {
      // A page may have set the property before it was told what the element is.
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
      const said = this.closest("[lang]")?.getAttribute("lang");
      const language = languageFor(said ? [said] : navigator.languages);
      const use = (resources: readonly Resource[]): void => {
        const detail: ChooseDetail = { resources };
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
