/** The text of a document, page by page. */
import { useMemo, useRef } from "preact/hooks";
import { pagesOf } from "./pages.ts";
import type { ViewProps } from "./view.ts";

export default function PagesView({ text, language: { texts } }: ViewProps) {
  const { previews } = texts;
  const pages = useMemo(() => pagesOf(text), [text]);
  const box = useRef<HTMLDivElement>(null);
  const goTo = (number: number): void => {
    const heading = box.current?.querySelectorAll("h3")[number - 1];
    heading?.scrollIntoView();
    heading?.focus({ preventScroll: true });
  };
  return (
    <div class="pages" ref={box}>
      {pages.length > 1 && (
        <label class="page-choice">
          {previews.goToPage}{" "}
          <select onChange={({ currentTarget }) => goTo(Number(currentTarget.value))}>
            {pages.map((_, index) => (
              <option key={index} value={index + 1}>
                {index + 1}
              </option>
            ))}
          </select>
        </label>
      )}
      {pages.map(({ lines, line }, index) => (
        <section key={index}>
          <h3 tabIndex={-1} data-line={line - 1}>
            {previews.page(index + 1, pages.length)}
          </h3>
          {lines.length === 0 ? (
            <p class="quiet">{previews.emptyPage}</p>
          ) : (
            <pre>
              {lines.map((each, order) => (
                <span key={order} class="page-line" data-line={line + order}>
                  {`${each}\n`}
                </span>
              ))}
            </pre>
          )}
        </section>
      ))}
    </div>
  );
}
