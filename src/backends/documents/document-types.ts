/** The types of documents from which text is extracted. */
import { notebookType } from "../../lib/mime.ts";

const office = "application/vnd.openxmlformats-officedocument";
const openDocument = "application/vnd.oasis.opendocument";

export const documentTypes: ReadonlySet<string> = new Set([
  "application/pdf",
  `${office}.wordprocessingml.document`,
  `${office}.spreadsheetml.sheet`,
  `${office}.presentationml.presentation`,
  `${openDocument}.text`,
  `${openDocument}.spreadsheet`,
  `${openDocument}.presentation`,
  "text/html",
  notebookType,
]);

/** The types of pictures whose text is recognized, where that is switched on. */
export const pictureTypes: ReadonlySet<string> = new Set(
  ["png", "jpeg", "gif", "webp", "bmp", "tiff"].map((name) => `image/${name}`),
);
