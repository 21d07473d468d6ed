/** All sources by name, each loaded when a mount needs it. */

export const sources = {
  file: () => import("./file.ts"),
  memory: () => import("./memory.ts"),
} as const;
