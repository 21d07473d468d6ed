/** Prepares the contents of a resource for display: joins the parts of a large text. */
import type { Content } from "../resources.ts";
import type { PreviewState } from "./state.ts";
import { bareType } from "./views/choose-view.ts";
import { isPicture } from "./views/is-picture.ts";

interface Common {
  readonly uri: string;
  /** As the server gives it. */
  readonly said: string;
  /** Without parameters, in lowercase. */
  readonly type: string;
  readonly isPicture: boolean;
}

export type PreviewContent =
  | (Common & { readonly text: string; readonly isWhole: boolean })
  | (Common & { readonly bytes: Uint8Array });

export function shownOf({ contents, resource, isPartial, next, isTaken }: PreviewState): readonly PreviewContent[] {
  const [first] = contents;
  if (!first && resource.size !== undefined)
    return [{ ...common({ uri: resource.uri }, resource.mimeType), bytes: new Uint8Array() }];
  // The type of an extracted text is not that of the document.
  const otherwise = isTaken ? "text/plain" : resource.mimeType;
  const isText = contents.every(({ body }) => "text" in body);
  if (!first || !isPartial || !isText)
    return contents.map((content) => {
      const { body } = content;
      return { ...common(content, otherwise), ...("text" in body ? { text: body.text, isWhole: !isPartial } : body) };
    });
  const text = contents.map(({ body }) => ("text" in body ? body.text : "")).join("");
  return [{ ...common(first, otherwise), uri: resource.uri, text, isWhole: next === undefined }];
}

function common({ uri, mimeType }: Pick<Content, "uri" | "mimeType">, otherwise = ""): Common {
  const said = mimeType ?? otherwise;
  const type = bareType(said);
  return { uri, said, type, isPicture: isPicture(type) };
}
