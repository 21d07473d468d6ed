/** The first dated revision: paging, annotations, completion; "not found" is −32002. */
import { completionComplete } from "../completion.ts";
import { promptsGet, promptsList } from "../prompts.ts";
import type { Revision } from "../revision.ts";
import { toolsCall, toolsList } from "../tools.ts";
import { errorCodes, revision20241007 } from "./2024-10-07.ts";

export const revision20241105: Revision = {
  ...revision20241007,
  date: "2024-11-05",
  asks: new Map([
    ...revision20241007.asks,
    ["completion/complete", completionComplete],
    ["tools/list", toolsList],
    ["tools/call", toolsCall],
    ["prompts/list", promptsList],
    ["prompts/get", promptsGet],
  ]),
  requests: new Set(["sampling/createMessage", "roots/list"]),
  has: { ...revision20241007.has, annotations: true },
  listsTemplates: false,
  // https://modelcontextprotocol.io/specification/2024-11-05/server/resources#error-handling
  errorCode: errorCodes(-32002),
};
