/** What must be served: for each name the texts that it may have, of which none at all may be one. */

type Text = string | undefined;

export interface Model {
  /** A write begins: from now on both texts are possible, and when the result is called, only the new one. */
  begin(name: string, text: Text): () => void;
  /** Names that are there, or may be. */
  names(): readonly string[];
  /** Names that are there, were there when all was last quiet, and have not been written since. */
  certain(): ReadonlySet<string>;
  /** Throws where an answer that claims to be whole lacks a certain name, or has one that was never written. */
  checkClaim(names: readonly string[], certainBefore: ReadonlySet<string>): void;
  differences(names: readonly string[]): readonly string[];
  wrongTexts(texts: ReadonlyMap<string, string>): readonly string[];
  /** What was seen is what counts from now on. */
  settle(texts: ReadonlyMap<string, string>): void;
  /** The place where texts are kept was damaged: each may be gone. */
  mayBeLost(): void;
}

export function createModel(): Model {
  const possible = new Map<string, Set<Text>>();
  const quiet = new Set<string>();
  const under = new Map<string, number>();

  const model: Model = {
    begin(name, text) {
      const texts = possible.get(name) ?? new Set([undefined]);
      possible.set(name, texts.add(text));
      quiet.delete(name);
      const number = (under.get(name) ?? 0) + 1;
      under.set(name, number);
      return () => {
        // A later write that is under way may have come first.
        if (under.get(name) === number) possible.set(name, new Set([text]));
      };
    },
    names: () => [...possible].filter(([, texts]) => texts.size > 1 || !texts.has(undefined)).map(([name]) => name),
    certain: () => new Set(quiet),
    checkClaim(names, certainBefore) {
      const lacking = [...certainBefore].filter((name) => quiet.has(name) && !names.includes(name));
      const invented = names.filter((name) => !possible.has(name));
      if (lacking.length + invented.length > 0)
        throw new Error(
          `an answer claims to be whole: it lacks [${lacking.join(", ")}] and invents [${invented.join(", ")}]`,
        );
    },
    differences(names) {
      return [...new Set([...possible.keys(), ...names])].flatMap((name) => {
        const texts = possible.get(name) ?? new Set([undefined]);
        if (names.includes(name)) return [...texts].some((text) => text !== undefined) ? [] : [`${name} is there`];
        return texts.has(undefined) ? [] : [`${name} is missing`];
      });
    },
    wrongTexts: (texts) =>
      [...texts].flatMap(([name, text]) => {
        const allowed = possible.get(name);
        return allowed?.has(text)
          ? []
          : [`${name} reads ${JSON.stringify(text)}, not ${JSON.stringify([...(allowed ?? [])])}`];
      }),
    settle(texts) {
      quiet.clear();
      for (const name of possible.keys()) {
        possible.set(name, new Set([texts.get(name)]));
        if (texts.has(name)) quiet.add(name);
      }
    },
    mayBeLost() {
      quiet.clear();
      for (const texts of possible.values()) texts.add(undefined);
    },
  };
  return model;
}
