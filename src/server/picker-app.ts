/** The picker as an MCP App: a page in one file that a host shows, and the tool that opens it. */
import { notFound, ResourceError } from "../errors.ts";
import { type NamedMount, rootOf } from "../protocol/tools/mounts.ts";
import type { Tool } from "../protocol/tools.ts";
import type { Caller } from "../resources.ts";
import type { Mount } from "../router/route.ts";
import type { Entry, Source } from "../source.ts";
import { appType, showsApps } from "./picker-tools.ts";

const pickerAppUri = "ui://pressmark/picker";

const entry: Entry = {
  path: "picker",
  title: "Picker",
  description: "A page to browse, search and choose resources",
  mimeType: appType,
};
/** The file contains everything: it loads nothing, and calls the server only through the host. */
const meta = { ui: { csp: {}, permissions: { clipboardWrite: {} }, prefersBorder: true } };

/** Not listed, because it is not for models; hosts read it through the tool's link. */
export function pickerAppMount(file: string | undefined): Mount {
  let text: Promise<string> | undefined;
  const source: Source = {
    list: async () => ({ items: [] }),

    async read({ path, query }) {
      if (path !== entry.path || query) throw notFound(path);
      text ??= readPage(file);
      try {
        return [{ mimeType: appType, body: { text: await text }, meta }];
      } catch (cause) {
        // Perhaps it is currently being built.
        text = undefined;
        throw new ResourceError("unavailable", "the picker is not built", { cause });
      }
    },

    async stat({ path, query }) {
      if (path !== entry.path || query) throw notFound(path);
      return { ...entry, meta };
    },
  };
  return { name: "pressmark/ui", base: "ui://pressmark/", source };
}

async function readPage(file: string | undefined): Promise<string> {
  const [{ join }, { packageFolder }, { readPackageFile }] = await Promise.all([
    import("node:path"),
    import("../lib/package-folder.ts"),
    import("../lib/package-files.ts"),
  ]);
  return (await readPackageFile(file ?? join(packageFolder(), "dist", "picker-app.html"))).toString("utf8");
}

interface PickToolOptions {
  /** Mounts that this caller may see. */
  mounts(caller: Caller): readonly NamedMount[];
  /** Tools that the page may call, if they are offered to the caller. */
  readonly tools: readonly Tool[];
}

export function createPickTool({ mounts, tools }: PickToolOptions): Tool {
  return {
    name: "pick_resources",
    title: "Let the person pick resources",
    description:
      "Show the person a page in which they see, search and choose resources themselves. Call it when they want to pick what you should read, or when you cannot tell which of many resources they mean. What they choose reaches you through the host.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    outputSchema: {
      type: "object",
      properties: {
        mounts: {
          type: "array",
          items: {
            type: "object",
            properties: { name: { type: "string" }, uri: { type: "string" } },
            required: ["name", "uri"],
          },
        },
        tools: { type: "array", items: { type: "string" } },
      },
      required: ["mounts", "tools"],
    },
    annotations: { title: "Let the person pick resources", readOnlyHint: true, openWorldHint: false },
    // The second key is for hosts that implement a draft of the extension.
    meta: { ui: { resourceUri: pickerAppUri }, "ui/resourceUri": pickerAppUri },
    isFor: showsApps,
    call: async (_args, { caller, clientCapabilities }) => ({
      content: [{ type: "text", text: "The picker is shown. The person chooses in it; wait for what they pick." }],
      structuredContent: {
        mounts: mounts(caller).map(({ name, base }) => ({ name, uri: rootOf(base) })),
        tools: tools.filter(({ isFor }) => isFor?.(clientCapabilities, caller) ?? true).map(({ name }) => name),
      },
    }),
  };
}
