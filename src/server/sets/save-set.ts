/** The tool `save_set`: saves a set of resources for the caller. */
import { isSetName, isSetUri, setNameRule } from "../../config/sets.ts";
import type { Policy } from "../../access/policy.ts";
import { invalid, quote, ResourceError, toResourceError } from "../../errors.ts";
import { member, type RequestParams } from "../../protocol/message.ts";
import { checkNames, neededText, readArguments, textArgument } from "../../protocol/tools/arguments.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Call, Resources } from "../../resources.ts";
import { setMount, type Sets } from "../sets.ts";
import { uriOfSet } from "./sets-source.ts";

const maxUris = 100;
const maxUriLength = 8192;
/** Maximum number of sets per caller. */
const maxSets = 100;

interface SaveSetOptions {
  readonly resources: Resources;
  readonly sets: Sets;
  readonly policy: Policy;
}

export function createSaveSet({ resources, sets, policy }: SaveSetOptions): Tool {
  return {
    name: "save_set",
    title: "Save a set",
    description:
      "Save a choice of resources under a name, when the user asks you to keep, bookmark or remember them together. The set is then a prompt and the resource set://name. Saving under a name that you saved before replaces that set.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "A short name: letters, digits, dots, dashes and underscores" },
        uris: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: maxUris,
          description: "The URIs of the resources, exactly as they were given",
        },
        title: { type: "string", description: "Title to show instead of the name" },
        description: { type: "string", description: "What the set is for, in one sentence" },
      },
      required: ["name", "uris"],
      additionalProperties: false,
    },
    annotations: {
      title: "Save a set",
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    async call(args, call) {
      if (policy.mayWrite?.(call.caller, setMount) === false)
        throw invalid("saving sets is not permitted; ask the operator for a rule with write: true");
      const { name, title, description, uris } = readArguments({
        names: () => checkNames(args, "save_set", ["name", "uris", "title", "description"]),
        name: () => nameArgument(args),
        title: () => lineArgument(args, "title", 200),
        description: () => lineArgument(args, "description", 2000),
        uris: () => urisArgument(args),
      });
      await checkVisible(uris, resources, call);

      const there = await sets.find(name, call);
      if (there && there.owner === undefined)
        throw invalid(`the set ${quote(name)} exists already and is not yours to replace; choose another name`);
      const others = sets.savedBy(call).filter((set) => set.name !== name);
      if (others.length >= maxSets)
        throw invalid(`at most ${maxSets} sets can be saved; replace one of yours by saving under its name`);
      try {
        sets.save({ name, resources: uris, title, description }, call);
      } catch (cause) {
        throw new ResourceError("unexpected", "the set cannot be saved: the server's state folder cannot be written", {
          cause,
        });
      }
      const uri = uriOfSet(name);
      const count = uris.length === 1 ? "1 resource" : `${uris.length} resources`;
      return {
        content: [
          { type: "text", text: `Saved ${count} as the set ${quote(name)}: ${uri}` },
          { type: "link", isSaid: true, resource: { uri, name, title, mimeType: "application/json" } },
        ],
      };
    },
  };
}

function nameArgument(args: RequestParams): string {
  const name = neededText(args, "name", 64).normalize("NFC");
  if (!isSetName(name)) throw invalid(`${setNameRule}; not ${quote(name, 64)}`);
  return name;
}

/** Refuses control characters, which could affect whatever displays the text. */
function lineArgument(args: RequestParams, name: string, maxLength: number): string | undefined {
  const text = textArgument(args, name, maxLength);
  if (text !== undefined && /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(text))
    throw invalid(`"${name}" must be one line of plain text`);
  return text;
}

function urisArgument(args: RequestParams): string[] {
  const given = member(args, "uris");
  if (!Array.isArray(given) || given.length === 0) throw invalid('"uris" must be a list of at least one URI');
  if (given.length > maxUris) throw invalid(`"uris" may contain at most ${maxUris} URIs`);
  const uris = given.map((uri: unknown) => {
    if (typeof uri !== "string" || uri.length > maxUriLength) throw invalid('"uris" may contain only URIs');
    if (isSetUri(uri)) throw invalid(`a set contains resources, not other sets; leave out ${quote(uri)}`);
    return uri;
  });
  return [...new Set(uris)];
}

/** Checks one by one: missing and invisible resources give the same error. */
async function checkVisible(uris: readonly string[], { stat }: Resources, call: Call): Promise<void> {
  for (const uri of uris)
    await stat(uri, call).catch((cause: unknown) => {
      const { kind } = toResourceError(cause);
      if (kind === "not-found" || kind === "invalid") throw invalid(`no resource at ${quote(uri)}; nothing was saved`);
      throw cause;
    });
}
