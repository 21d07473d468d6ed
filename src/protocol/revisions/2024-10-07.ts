/** The early draft: `resources/list` also contains templates, and "not found" is −32001. */
import type { ErrorKind } from "../../errors.ts";
import { codes } from "../message.ts";
import type { Revision } from "../revision.ts";
import { ping } from "../discovery.ts";
import {
  resourcesList,
  resourcesRead,
  resourcesSubscribe,
  resourcesTemplatesList,
  resourcesUnsubscribe,
} from "../resources.ts";

export const revision20241007: Revision = {
  date: "2024-10-07",
  asks: new Map([
    ["ping", ping],
    ["resources/list", resourcesList],
    ["resources/templates/list", resourcesTemplatesList],
    ["resources/read", resourcesRead],
    ["resources/subscribe", resourcesSubscribe],
    ["resources/unsubscribe", resourcesUnsubscribe],
  ]),
  requests: new Set(),
  has: {
    annotations: false,
    titles: false,
    icons: false,
    audio: false,
    completionContext: false,
    extensions: false,
    inputParts: false,
  },
  batches: false,
  listsTemplates: true,
  seal: (result) => result,
  errorCode: errorCodes(-32001),
};

/** Error codes; only "not found" differs between revisions. */
export function errorCodes(notFoundCode: number): (kind: ErrorKind) => number {
  return (kind) => {
    switch (kind) {
      case "not-found":
      case "denied":
      case "directory":
        return notFoundCode;
      case "invalid":
      case "too-large":
        return codes.params;
      default:
        return codes.internal;
    }
  };
}
