/** Selects the part of a response that `fields` names, as Google's APIs do. */

interface Selection {
  readonly [name: string]: Selection | true;
}

/** `files(id,capabilities(canDownload)),nextPageToken`; `a/b` is `a(b)`, and `*` is everything. Undefined if invalid. */
export function project(value: unknown, fields: string | null): unknown {
  if (fields === null || fields === "*") return value;
  const reader = createReader(fields);
  const selection = reader.selection();
  return selection && reader.isAtEnd() ? cut(value, selection) : undefined;
}

function cut(value: unknown, selection: Selection | true): unknown {
  if (selection === true || selection["*"] !== undefined) return value;
  if (Array.isArray(value)) return value.map((each) => cut(each, selection));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => {
      const wanted = selection[name];
      return wanted === undefined || inner === undefined ? [] : [[name, cut(inner, wanted)]];
    }),
  );
}

function createReader(text: string) {
  let at = 0;
  const isAtEnd = () => at === text.length;

  function selection(): Selection | undefined {
    const found: Record<string, Selection | true> = {};
    for (;;) {
      const name = /^[\w*]+/.exec(text.slice(at))?.[0];
      if (name === undefined) return undefined;
      at += name.length;
      const below = inner();
      if (below === undefined) return undefined;
      found[name] = below;
      if (text[at] !== ",") return found;
      at += 1;
    }
  }

  function inner(): Selection | true | undefined {
    if (text[at] === "/") {
      at += 1;
      const name = /^[\w*]+/.exec(text.slice(at))?.[0];
      if (name === undefined) return undefined;
      at += name.length;
      const below = inner();
      return below === undefined ? undefined : { [name]: below };
    }
    if (text[at] !== "(") return true;
    at += 1;
    const found = selection();
    if (!found || text[at] !== ")") return undefined;
    at += 1;
    return found;
  }

  return { selection, isAtEnd };
}
