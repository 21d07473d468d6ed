/** How complete a search was, in the output of every tool that searches. */
export const searchStatusSchema = {
  ready: { type: "number", description: "Share of the index that was ready, from 0 to 1" },
  failures: {
    type: "array",
    description: "Mounts that could not be searched completely, and why",
    items: {
      type: "object",
      properties: { mount: { type: "string" }, message: { type: "string" } },
      required: ["mount", "message"],
    },
  },
} as const;
