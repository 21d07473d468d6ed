/** An icon for the type of a resource. */
import { directoryType } from "../resources.ts";

const shapes = {
  folder: "M1.5 3.5h4.6l1.4 1.6h7v8.4h-13z",
  image: "M1.5 2.5h13v11h-13z M3 12l3.5-4.5 2.5 3 2-2L14 12",
  data: "M2 3.5h12v9H2z M2 6.5h12 M2 9.5h12 M6.5 3.5v9",
  code: "M5.5 4.5 2 8l3.5 3.5 M10.5 4.5 14 8l-3.5 3.5",
  text: "M3.5 1.5h6l3 3v10h-9z M5.5 7h5 M5.5 9.5h5 M5.5 12h3",
} as const;

export function IconImage({ type = "" }: { readonly type?: string | undefined }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={shapes[shapeOf(type)]} />
    </svg>
  );
}

function shapeOf(type: string): keyof typeof shapes {
  if (type === directoryType) return "folder";
  if (type.startsWith("image/")) return "image";
  if (/csv|json|yaml|sql|parquet|spreadsheet/.test(type)) return "data";
  return /script|x-|java|toml|xml|css/.test(type) ? "code" : "text";
}
