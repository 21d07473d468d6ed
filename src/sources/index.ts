/** All sources by name, each loaded when a mount needs it. */

export const sources = {
  data: () => import("./data.ts"),
  file: () => import("./file.ts"),
  memory: () => import("./memory.ts"),
  web: () => import("./web.ts"),
} as const;
