/** The grammar of `q`: comparisons, combined with and, or, not and brackets. */

export interface QueriedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly text: string;
  readonly trashed: boolean;
  readonly modifiedTime: string;
  readonly parents: readonly string[];
  readonly owners: readonly string[];
}

type Test = (file: QueriedFile) => boolean;

type Token = { readonly kind: "word" | "text" | "sign"; readonly value: string };

/** Undefined if invalid. `me` is the account of the request. */
export function parseDriveQuery(q: string, me: string): Test | undefined {
  const tokens = tokensOf(q);
  if (!tokens) return undefined;
  let at = 0;
  const take = (value?: string): Token | undefined => {
    const token = tokens[at];
    if (!token || (value !== undefined && (token.kind === "text" || token.value !== value))) return undefined;
    at += 1;
    return token;
  };

  function either(): Test | undefined {
    let left = both();
    while (left && take("or")) {
      const [one, other]: [Test, Test | undefined] = [left, both()];
      left = other && ((file) => one(file) || other(file));
    }
    return left;
  }

  function both(): Test | undefined {
    let left = single();
    while (left && take("and")) {
      const [one, other]: [Test, Test | undefined] = [left, single()];
      left = other && ((file) => one(file) && other(file));
    }
    return left;
  }

  function single(): Test | undefined {
    if (take("not")) {
      const inner = single();
      return inner && ((file) => !inner(file));
    }
    if (take("(")) {
      const inner = either();
      return take(")") ? inner : undefined;
    }
    return comparison();
  }

  function comparison(): Test | undefined {
    const [first, sign, second] = [take(), take(), take()];
    if (!first || !sign || !second) return undefined;
    if (first.kind === "text") {
      const who = first.value === "me" ? me : first.value;
      if (sign.value !== "in") return undefined;
      if (second.value === "parents") return ({ parents }) => parents.includes(first.value);
      return second.value === "owners" ? ({ owners }) => owners.includes(who) : undefined;
    }
    const { value } = second;
    const requested = `${first.value} ${sign.value}`;
    if (requested === "trashed =" && second.kind === "word") return ({ trashed }) => String(trashed) === value;
    if (second.kind !== "text") return undefined;
    switch (requested) {
      case "name contains":
        return ({ name }) =>
          name
            .toLowerCase()
            .split(/\s+/)
            .some((word) => word.startsWith(value.toLowerCase()));
      case "name =":
        return ({ name }) => name === value;
      case "fullText contains":
        return ({ name, text }) => `${name}\n${text}`.toLowerCase().includes(value.toLowerCase());
      case "mimeType =":
        return ({ mimeType }) => mimeType === value;
      case "mimeType !=":
        return ({ mimeType }) => mimeType !== value;
      case "modifiedTime >":
        return ({ modifiedTime }) => modifiedTime > value;
      default:
        return undefined;
    }
  }

  const test = either();
  return at === tokens.length ? test : undefined;
}

function tokensOf(q: string): Token[] | undefined {
  const tokens: Token[] = [];
  const pattern = /\s*(?:'((?:[^'\\]|\\.)*)'|([A-Za-z]+)|(!=|<=|>=|[=<>()]))/y;
  while (pattern.lastIndex < q.trimEnd().length) {
    const found = pattern.exec(q);
    if (!found) return undefined;
    const [, text, word, sign] = found;
    if (text !== undefined) tokens.push({ kind: "text", value: text.replaceAll(/\\(.)/g, "$1") });
    else tokens.push({ kind: word === undefined ? "sign" : "word", value: word ?? sign ?? "" });
  }
  return tokens;
}
