/** An icon for the kind of a resource, by its type and URI. */
import { directoryType } from "../resources.ts";

const shapes = {
  folder: "M1.5 3.5h4.6l1.4 1.6h7v8.4h-13z",
  file: "M3.5 1.5h6l3 3v10h-9z M9.5 1.5v3h3",
  text: "M3.5 1.5h6l3 3v10h-9z M5.5 7h5 M5.5 9.5h5 M5.5 12h3",
  code: "M5.5 4.5 2 8l3.5 3.5 M10.5 4.5 14 8l-3.5 3.5",
  markdown: "M1.5 3.5h13v9h-13z M4 10V6l2 2.4L8 6v4 M11.5 6v4 M10 8.6l1.5 1.6L13 8.6",
  table: "M2 3h12v10H2z M2 6.5h12 M2 9.5h12 M6.5 3v10",
  image: "M2 3h12v10H2z M2.5 12l3.8-4.2 2.5 2.7 2-1.8 2.7 3 M10.6 5.9h.1",
  pdf: "M3.5 1.5h6l3 3v10h-9z M5.5 12c2.6-2 3.3-4.3 2.6-5.3s-1 2.6 2.4 3.7c.6.4-2.8-.4-5 1.6z",
  database: "M2.5 4c0-3 11-3 11 0v8c0 3-11 3-11 0z M2.5 4c0 3 11 3 11 0 M2.5 8c0 3 11 3 11 0",
  git: "M4.5 5.5v5 M4.5 5.5a2 2 0 1 1 .1 0z M4.5 14.5a2 2 0 1 1 .1 0z M11.5 6.5a2 2 0 1 1 .1 0z M11.5 6.5c0 3-3 3.4-5.2 4.9",
  set: "M3.5 1.5h9v13L8 11.2l-4.5 3.3z",
  web: "M8 1.5a6.5 6.5 0 1 1-.1 0z M1.5 8h13 M8 1.5c4 4 4 9 0 13c-4-4-4-9 0-13z",
  config: "M2 4.5h6 M11 4.5h3 M9.5 3a1.5 1.5 0 1 1-.1 0z M2 11.5h3 M8 11.5h6 M6.5 10a1.5 1.5 0 1 1-.1 0z",
  chart: "M2 2v12h12 M4.5 11l3-4 2.5 2L13.5 4",
} as const;

type Shape = keyof typeof shapes;

/** In order: the first that fits counts. */
const byType: readonly (readonly [RegExp, Shape])[] = [
  [/^image\//, "image"],
  [/pdf/, "pdf"],
  [/markdown/, "markdown"],
  [/csv|tab-separated|spreadsheet|parquet|jsonl|ndjson/, "table"],
  [/sql|sqlite/, "database"],
  [/html/, "web"],
  [/json|yaml|toml|xml|ini|properties/, "config"],
  [/diff|patch/, "git"],
  [/script|x-|java|css|rust|python/, "code"],
  [/^text\//, "text"],
];

/** Types of many files say little, and their names more. */
const byName: readonly (readonly [RegExp, Shape])[] = [
  [/\.(?:[cm]?[jt]sx?|py|go|rs|rb|java|kt|swift|cs?|cpp|h|php|sh|lua|scala|vue|svelte)$/i, "code"],
  [/\.(?:toml|ya?ml|ini|env|conf)$/i, "config"],
];

/** The sources of mounts, by the scheme of their URIs. */
const byScheme: readonly (readonly [RegExp, Shape])[] = [
  [/^git/, "git"],
  [/^(?:postgres|sqlite|mysql|db|data)/, "database"],
  [/^https?:|^web/, "web"],
  [/^pressmark:\/\/sets/, "set"],
  [/^(?:metrics|prometheus)/, "chart"],
];

interface IconProps {
  readonly type?: string | undefined;
  readonly uri?: string;
}

export function IconImage({ type = "", uri = "" }: IconProps) {
  const shape = shapeOf(type, uri);
  return (
    <svg class={`icon icon-${shape}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[shape]} />
    </svg>
  );
}

function shapeOf(type: string, uri: string): Shape {
  const first = (list: readonly (readonly [RegExp, Shape])[], text: string): Shape | undefined =>
    list.find(([pattern]) => pattern.test(text))?.[1];
  if (type === directoryType) return first(byScheme, uri) ?? "folder";
  return first(byName, uri) ?? (uri.startsWith("git:") ? "git" : first(byType, type)) ?? "file";
}
