/** Mermaid: draws entity-relationship diagrams, and shows other kinds as text. */
import { useMemo } from "preact/hooks";
import type { PickerTexts } from "../texts.ts";
import { isErDiagram, parseErDiagram } from "./er.ts";
import { ErDiagram } from "./er-diagram.tsx";
import type { ViewProps } from "./view.ts";

export default function DiagramView({ text, language: { texts } }: Pick<ViewProps, "text" | "language">) {
  return <Mermaid {...{ text, texts }} />;
}

export function Mermaid({ text, texts }: { readonly text: string; readonly texts: PickerTexts }) {
  const diagram = useMemo(() => (isErDiagram(text) ? parseErDiagram(text) : undefined), [text]);
  if (diagram) return <ErDiagram {...{ diagram, texts }} />;
  return (
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  );
}
