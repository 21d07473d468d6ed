/** An entity-relationship diagram, and the same as text for screen readers. */
import { useMemo, useState } from "preact/hooks";
import type { PickerTexts } from "../texts.ts";
import type { Diagram, End } from "./er.ts";
import {
  type Box,
  headHeight,
  layOut,
  type LayoutLine,
  type LineEnd,
  rowHeight,
  attributeText,
  textWidth,
} from "./er-layout.ts";

/** A wider diagram is not scaled to fit, because it would be illegible. */
const maxFitted = 1500;

export function ErDiagram({ diagram, texts }: { readonly diagram: Diagram; readonly texts: PickerTexts }) {
  const layout = useMemo(() => layOut(diagram), [diagram]);
  const [isFitted, setFitted] = useState(layout.width <= maxFitted);
  const { width, height, boxes, lines } = layout;
  const label = texts.shown.diagram(diagram.entities.length, diagram.relations.length);
  const labels = new Map(diagram.entities.map((entity) => [entity.id, entity.label]));
  return (
    <figure class="er">
      <button type="button" class="small" aria-pressed={isFitted} onClick={() => setFitted(!isFitted)}>
        {texts.shown.fit}
      </button>
      <div class="er-area" tabIndex={0} role="region" aria-label={label}>
        <svg
          role="img"
          aria-label={label}
          viewBox={`0 0 ${width} ${height}`}
          width={width}
          height={height}
          class={isFitted ? "fitted" : ""}
        >
          {lines.map((line, index) => (
            <Connection key={index} {...line} />
          ))}
          {boxes.map((box) => (
            <EntityBox key={box.entity.id} box={box} texts={texts} />
          ))}
          {lines.map(({ relation, middle: [x, y] }, index) => (
            <text key={index} class="er-label" x={x} y={y + 4} text-anchor="middle">
              {shortened(relation.label, 24)}
            </text>
          ))}
        </svg>
      </div>
      {diagram.relations.length > 0 && (
        <details>
          <summary>{texts.shown.inWords}</summary>
          <ul>
            {diagram.relations.map(({ from, to, fromEnd, toEnd, label: said }, index) => (
              <li key={index}>
                {labels.get(from)} ({texts.shown.end[fromEnd]}) – {labels.get(to)} ({texts.shown.end[toEnd]})
                {said && `: ${said}`}
              </li>
            ))}
          </ul>
        </details>
      )}
    </figure>
  );
}

function EntityBox({ box, texts }: { readonly box: Box; readonly texts: PickerTexts }) {
  const { x, y, width, height, entity, attributes, hidden } = box;
  const letters = Math.floor((width - 16) / 7.3);
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect class="er-box" width={width} height={height} rx="5" />
      <text class="er-name" x={width / 2} y="19" text-anchor="middle">
        {shortened(entity.label, letters)}
      </text>
      {attributes.length > 0 && <line class="er-rule" x2={width} y1={headHeight} y2={headHeight} />}
      {attributes.map((each, index) => {
        const { type, keys } = each;
        const name = attributeText(each);
        const base = headHeight + index * rowHeight + 17;
        const marks = keys.join(" ");
        const room = Math.max(4, letters - textWidth(name) - (marks === "" ? 1 : marks.length + 2));
        return (
          <g key={index}>
            <text class="er-column" x="8" y={base}>
              {shortened(name, letters - 6)}
              {marks !== "" && (
                <tspan class="er-key" dx="6">
                  {marks}
                </tspan>
              )}
            </text>
            <text class="er-type" x={width - 8} y={base} text-anchor="end">
              {shortened(type, room)}
            </text>
          </g>
        );
      })}
      {hidden > 0 && (
        <text class="er-type" x="8" y={headHeight + attributes.length * rowHeight + 17}>
          {texts.shown.andMore(hidden)}
        </text>
      )}
    </g>
  );
}

function Connection({ relation, path, ends: [from, to] }: LayoutLine) {
  return (
    <g class="er-line">
      <path class={relation.isFirm ? "" : "loose"} d={path} />
      <path d={markOf(from, relation.fromEnd)} />
      <path d={markOf(to, relation.toEnd)} />
    </g>
  );
}

/** A crow's foot for many, a bar for one, a ring for none. */
function markOf({ x, y, side }: LineEnd, end: End): string {
  const at = (distance: number): number => x + side * distance;
  const bar = (distance: number): string => `M${at(distance)} ${y - 6}v12`;
  const ring = (distance: number): string => `M${at(distance)} ${y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0`;
  const foot = `M${at(12)} ${y}L${x} ${y - 7}M${at(12)} ${y}L${x} ${y + 7}`;
  switch (end) {
    case "one":
      return bar(7) + bar(12);
    case "none or one":
      return bar(7) + ring(15);
    case "one or more":
      return foot + bar(15);
    case "any":
      return foot + ring(17);
  }
}

function shortened(text: string, letters: number): string {
  if (textWidth(text) <= letters) return text;
  let kept = "";
  for (const letter of text) {
    if (textWidth(kept + letter) > letters - 1) break;
    kept += letter;
  }
  return `${kept}…`;
}
