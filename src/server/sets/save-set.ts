/** The tools `save_set` and `delete_set`: the owner's sets are for everyone who may see their members, those of other callers for them alone. */
import { isSetName, isSetUri, setNameRule } from "../../config/sets.ts";
import type { Policy } from "../../access/policy.ts";
import { invalid, quote, ResourceError, toResourceError } from "../../errors.ts";
import { member, type RequestParams } from "../../protocol/message.ts";
import { checkNames, flagArgument, neededText, readArguments, textArgument } from "../../protocol/tools/arguments.ts";
import type { Tool } from "../../protocol/tools.ts";
import type { Call, Resources } from "../../resources.ts";
import { setMount, type Sets } from "../sets.ts";
import { uriOfSet } from "./sets-source.ts";

const maxUris = 500;
/** Of all URIs together; a larger file of a set is not read. */
const maxUrisBytes = 512 * 1024;
const maxUriLength = 8192;
/** Maximum number of sets per caller. */
const maxSets = 100;

interface SaveSetOptions {
  readonly resources: Resources;
  readonly sets: Sets;
  readonly policy: Policy;
  /** The name of a set's prompt. */
  promptName(set: string): string;
}

export function createSaveSet({ resources, sets, policy, promptName }: SaveSetOptions): Tool {
  return {
    name: "save_set",
    title: "Save a set",
    description:
      'Save a choice of resources under a name, when the user asks you to keep, bookmark or remember them together. The set is then a prompt and the resource set://name. Saving under a name that you saved before replaces that set; one that everybody sees is replaced only with "replace".',
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
        replace: {
          type: "boolean",
          description:
            "True to replace a saved set that everybody sees; only the owner of the server may. Default: false",
        },
      },
      required: ["name", "uris"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        uri: { type: "string" },
        prompt: { type: "string", description: "Name of the prompt that contains the resources" },
      },
      required: ["uri", "prompt"],
    },
    annotations: {
      title: "Save a set",
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    async call(args, call) {
      checkMayWrite(policy, call);
      const { name, title, description, uris, replace } = readArguments({
        names: () => checkNames(args, "save_set", ["name", "uris", "title", "description", "replace"]),
        name: () => nameArgument(args),
        title: () => lineArgument(args, "title", 200),
        description: () => lineArgument(args, "description", 2000),
        uris: () => urisArgument(args),
        replace: () => flagArgument(args, "replace"),
      });
      checkPromptName(name, promptName);
      await checkVisible(uris, resources, call);

      if (await isOfSomeoneElse(name, sets, call))
        throw invalid(`the set ${quote(name)} exists already and is not yours to replace; choose another name`);
      const others = sets.savedBy(call).filter((set) => set.name !== name);
      if (others.length >= maxSets)
        throw invalid(`at most ${maxSets} sets can be saved; replace one of yours by saving under its name`);
      const isSaved = await writing("saved", () =>
        sets.save({ name, resources: uris, title, description }, call, replace),
      );
      if (!isSaved) throw invalid(`the set ${quote(name)} exists already; choose another name, or replace it`);
      const uri = uriOfSet(name);
      const count = uris.length === 1 ? "1 resource" : `${uris.length} resources`;
      return {
        content: [
          { type: "text", text: `Saved ${count} as the set ${quote(name)}: ${uri}` },
          { type: "link", isSaid: true, resource: { uri, name, title, mimeType: "application/json" } },
        ],
        structuredContent: { uri, prompt: promptName(name) },
      };
    },
  };
}

export function createDeleteSet({ sets, policy }: Pick<SaveSetOptions, "sets" | "policy">): Tool {
  const title = "Delete a set";
  return {
    name: "delete_set",
    title,
    description: "Delete a set that was saved. The resources in it stay; sets of the config are deleted there.",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string", description: "Name of the set" } },
      required: ["name"],
      additionalProperties: false,
    },
    annotations: { title, readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    async call(args, call) {
      checkMayWrite(policy, call);
      checkNames(args, "delete_set", ["name"]);
      const name = nameArgument(args);
      const isDeleted = await writing("deleted", () => sets.remove(name, call));
      if (!isDeleted)
        throw invalid(`there is no saved set ${quote(name)}; sets of the config are deleted by editing the config`);
      return { content: [{ type: "text", text: `Deleted the set ${quote(name)}` }] };
    },
  };
}

/** The owner's sets replace others by name, so that absent members do not matter. Another caller must not learn of a set without visible members. */
async function isOfSomeoneElse(name: string, sets: Sets, call: Call): Promise<boolean> {
  if (call.caller.owner) return sets.configured().some((set) => set.name === name);
  const there = await sets.find(name, call);
  return there !== undefined && there.owner === undefined;
}

function checkMayWrite(policy: Policy, { caller }: Call): void {
  if (policy.mayWrite?.(caller, setMount) === false)
    throw invalid("saving sets is not permitted; ask the operator for a rule with write: true");
}

/** The prompt of the set "gather" is "set-gather": a set of that name would have the same prompt. */
function checkPromptName(name: string, promptName: SaveSetOptions["promptName"]): void {
  const other = /^set-(.+)$/.exec(name)?.[1];
  if (other !== undefined && promptName(other) === name)
    throw invalid(`the prompt ${quote(name)} belongs to the set ${quote(other)}; choose another name`);
}

async function writing<T>(done: "saved" | "deleted", write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    throw new ResourceError("unexpected", `the set cannot be ${done}: the server's state folder cannot be written`, {
      cause,
    });
  }
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
  if (Buffer.byteLength(JSON.stringify(uris)) > maxUrisBytes)
    throw invalid(`"uris" may be at most ${maxUrisBytes / 1024} KiB together`);
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
