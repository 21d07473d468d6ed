/** Parses entities and relations of a Mermaid `erDiagram`. Unknown lines are ignored, and nothing in them is executed. */

/** Cardinality of one end of a relation. */
export type End = "one" | "none or one" | "one or more" | "any";

export interface Attribute {
  readonly type: string;
  readonly name: string;
  /** PK, FK, UK */
  readonly keys: readonly string[];
  readonly comment?: string;
}

export interface Entity {
  readonly id: string;
  readonly label: string;
  readonly attributes: readonly Attribute[];
}

export interface Relation {
  readonly from: string;
  readonly to: string;
  readonly fromEnd: End;
  readonly toEnd: End;
  readonly label: string;
  /** True for an identifying relation; drawn as a solid line, otherwise dotted. */
  readonly isFirm: boolean;
}

export interface Diagram {
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
}

const maxEntities = 300;
const maxRelations = 1000;
const maxLine = 1000;

const name = String.raw`("[^"]*"|[\p{L}\p{N}_][\p{L}\p{N}_.-]*)`;
const relation = new RegExp(
  String.raw`^${name}\s*(\|o|\|\||\}o|\}\|)(--|\.\.)(o\||\|\||o\{|\|\{)\s*${name}\s*(?::\s*(.*))?$`,
  "u",
);
const entity = new RegExp(String.raw`^${name}\s*(?:\[([^\]]*)\]\s*)?(\{)?\s*(\})?$`, "u");
const attribute =
  /^([\p{L}_*][\p{L}\p{N}_*()[\],.-]*)\s+([\p{L}_*][\p{L}\p{N}_*()[\].-]*)\s*((?:(?:PK|FK|UK)(?:\s*,)?\s*)*)("[^"]*")?$/u;
const settings = /^(?:direction|style|classDef|class|title|accTitle|accDescr)\b/;
const ends: Readonly<Record<string, End>> = {
  "|o": "none or one",
  "o|": "none or one",
  "||": "one",
  "}o": "any",
  "o{": "any",
  "}|": "one or more",
  "|{": "one or more",
};

export function isErDiagram(text: string): boolean {
  return bodyOf(text) !== undefined;
}

/** The lines after `erDiagram`, which only comments and settings may precede. */
function bodyOf(text: string): readonly string[] | undefined {
  const lines = text.split("\n").map((line) => line.slice(0, maxLine).trim());
  let at = lines.findIndex((line) => !isAside(line));
  if (lines[at] === "---") at = lines.indexOf("---", at + 1) + 1;
  while (at < lines.length && isAside(lines[at] ?? "")) at += 1;
  return lines[at] === "erDiagram" ? lines.slice(at + 1).filter((line) => !isAside(line)) : undefined;
}

function isAside(line: string): boolean {
  return line === "" || line.startsWith("%%");
}

/** Undefined if it is empty, or far too large. */
export function parseErDiagram(text: string): Diagram | undefined {
  const found = new Map<string, { label: string; attributes: Attribute[] }>();
  const relations: Relation[] = [];
  let open: Attribute[] | undefined;
  const meet = (id: string) => {
    const known = found.get(id) ?? { label: id, attributes: [] };
    found.set(id, known);
    return known;
  };
  for (const line of bodyOf(text) ?? []) {
    if (open) {
      if (line === "}") open = undefined;
      else takeAttribute(line, open);
      continue;
    }
    if (settings.test(line)) continue;
    const [related, from = "", fromEnd = "", stroke = "", toEnd = "", to = "", label = ""] = relation.exec(line) ?? [];
    if (related !== undefined) {
      meet(plain(from));
      meet(plain(to));
      relations.push({
        from: plain(from),
        to: plain(to),
        fromEnd: ends[fromEnd] ?? "any",
        toEnd: ends[toEnd] ?? "any",
        label: plain(label.trim()),
        isFirm: stroke === "--",
      });
    } else {
      const [all, id = "", alias, begins, closes] = entity.exec(line) ?? [];
      if (all === undefined) continue;
      const known = meet(plain(id));
      if (alias !== undefined && alias !== "") known.label = plain(alias.trim());
      if (begins !== undefined && closes === undefined) open = known.attributes;
    }
    if (found.size > maxEntities || relations.length > maxRelations) return undefined;
  }
  if (found.size === 0) return undefined;
  return { entities: [...found].map(([id, each]) => ({ id, ...each })), relations };
}

function takeAttribute(line: string, attributes: Attribute[]): void {
  const [all, type = "", word = "", keys = "", comment] = attribute.exec(line) ?? [];
  if (all === undefined) return;
  attributes.push({
    type,
    name: word,
    keys: keys.match(/[PFU]K/g) ?? [],
    ...(comment !== undefined && { comment: plain(comment) }),
  });
}

function plain(text: string): string {
  return text.replace(/^"([^"]*)"$/, "$1");
}
