/** Parses the front matter of a SKILL.md to JSON, and accepts only what every host parses the same way. */

type Yaml = typeof import("yaml");

/** The fields, or what is wrong, as text that completes "SKILL.md …". */
export type FrontMatterAnswer =
  | { readonly fields: Readonly<Record<string, unknown>> }
  | { readonly says: string; readonly advice?: string };

/** More than any description needs. */
const maxLength = 16 * 1024;
/** The official clients parse no deeper. */
const maxDepth = 32;

const marks = 'put a line "---" before and after it';

/** `parse` may be another than `parseBlock` to do the work elsewhere. */
export async function parseSkillFrontMatter(text: string, parse = parseBlock): Promise<FrontMatterAnswer> {
  const block = cut(text);
  if (block === undefined) return { says: "has no front matter", advice: marks };
  if (block.length > maxLength) return { says: `has more than ${maxLength} characters of front matter` };
  return parse(block);
}

export async function parseBlock(block: string): Promise<FrontMatterAnswer> {
  try {
    return toFields(block, await import("yaml"));
  } catch {
    // Nested so deeply that the parser fails.
    return { says: "has front matter that cannot be read" };
  }
}

/** The text between the marks; undefined if one is missing, as while the file is being written. */
function cut(text: string): string | undefined {
  const begin = /^\ufeff?---\r?\n/.exec(text)?.[0].length;
  if (begin === undefined) return undefined;
  const rest = text.slice(begin);
  const end = /^---[\t ]*\r?$/m.exec(rest)?.index;
  return end === undefined ? undefined : rest.slice(0, end).replaceAll("\r\n", "\n");
}

function toFields(block: string, yaml: Yaml): FrontMatterAnswer {
  // Pretty errors take time in proportion to the square of a text with thousands of them.
  const options = { version: "1.2", schema: "core", logLevel: "silent", prettyErrors: false } as const;
  const document = yaml.parseDocument(block, options);
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    // The line with the mark before the block counts too.
    const line = block.slice(0, error.pos[0]).split("\n").length + 1;
    return { says: `has front matter that is not valid YAML at line ${line}: ${error.message}` };
  }
  const strange = strangeIn(document, yaml);
  if (strange !== undefined) return { says: `has front matter with ${strange}` };
  const fields: unknown = document.toJS({ maxAliasCount: 0 });
  if (typeof fields !== "object" || fields === null || Array.isArray(fields))
    return { says: "has front matter that is not a list of names and values" };
  return { fields: fields as Record<string, unknown> };
}

/** A construct that hosts parse differently, or not at all. */
function strangeIn(document: ReturnType<Yaml["parseDocument"]>, yaml: Yaml): string | undefined {
  let strange: string | undefined;
  const stop = (what: string): symbol => {
    strange = what;
    return yaml.visit.BREAK;
  };
  yaml.visit(document, {
    Alias: () => stop("an alias; write out the value"),
    Pair(_, { key }) {
      const name: unknown = yaml.isScalar(key) ? key.value : key;
      if (typeof name !== "string") return stop("a name that is not text; put it in quotes");
      return name === "__proto__" ? stop('the name "__proto__"') : undefined;
    },
    Node(_, node, path) {
      if (path.length > maxDepth && path.filter(yaml.isCollection).length > maxDepth)
        return stop("values nested too deeply");
      if (node.tag !== undefined) return stop(`the tag ${JSON.stringify(node.tag.slice(0, 100))}`);
      const value: unknown = yaml.isScalar(node) ? node.value : undefined;
      return typeof value === "number" && !Number.isFinite(value) ? stop("an infinite number") : undefined;
    },
  });
  return strange;
}
