/** All sources by name, each loaded when a mount needs it. */

export const sources = {
  analysis: () => import("./analysis.ts"),
  config: () => import("./config.ts"),
  data: () => import("./data.ts"),
  docs: () => import("./docs.ts"),
  file: () => import("./file.ts"),
  gcs: () => import("./gcs.ts"),
  gdrive: () => import("./gdrive.ts"),
  git: () => import("./git.ts"),
  mcp: () => import("./mcp.ts"),
  memory: () => import("./memory.ts"),
  metrics: () => import("./metrics.ts"),
  postgres: () => import("./postgres.ts"),
  redis: () => import("./redis.ts"),
  s3: () => import("./s3.ts"),
  skills: () => import("./skills.ts"),
  sqlite: () => import("./sqlite.ts"),
  web: () => import("./web.ts"),
} as const;
