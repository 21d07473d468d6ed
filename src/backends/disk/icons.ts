/** Icons for file types. */
import { directoryType } from "../../resources.ts";
import type { Icon } from "../../resources.ts";

const shapes = {
  folder: "M1 3h5l2 2h7v9H1z",
  code: "M5 4L1 8l4 4M11 4l4 4-4 4",
  text: "M3 1h10v14H3zM5 5h6M5 8h6M5 11h4",
  image: "M1 3h14v10H1zM2 12l4-5 3 3 2-2 3 4",
  data: "M2 3h12v10H2zM2 6h12M2 9h12M6 3v10",
  document: "M3 1h7l3 3v11H3zM10 1v3h3",
  sound: "M6 12V3l7-1v9M6 12a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM13 11a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
} as const;

type Shape = keyof typeof shapes;

const icons = Object.fromEntries(
  Object.entries(shapes).map(([shape, outline]) => [shape, [toIcon(outline)]]),
) as unknown as Readonly<Record<Shape, readonly Icon[]>>;

function toIcon(outline: string): Icon {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="none" stroke="#777" d="${outline}"/></svg>`;
  return { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, mimeType: "image/svg+xml", sizes: ["any"] };
}

/** The same object for the same type. */
export function iconsOf(mimeType: string | undefined): readonly Icon[] {
  return icons[shapeOf(mimeType)];
}

const dataTypes = /[/+](?:json|xml|yaml|toml|csv|tab-separated-values|x-ndjson|vnd\.apache\.parquet|vnd\.sqlite3)$/;

function shapeOf(mimeType: string | undefined): Shape {
  if (mimeType === undefined) return "document";
  if (mimeType === directoryType) return "folder";
  if (mimeType.startsWith("image/")) return "image";
  if (mimeType.startsWith("audio/") || mimeType.startsWith("video/")) return "sound";
  if (dataTypes.test(mimeType)) return "data";
  if (mimeType === "text/plain" || mimeType === "text/markdown" || mimeType === "text/html") return "text";
  return mimeType.startsWith("text/") ? "code" : "document";
}
