/** Figures of search that are the same in every run: on the repository's own questions, without those about its code, which change with it. */
import { pressmark } from "./contestants.ts";
import { measure } from "./quality.ts";
import { halves, keywordSet, readSet } from "./sets.ts";

export function searchFigures(): Record<string, number> {
  const japanese = readSet("japanese");
  return Object.fromEntries(
    [japanese, keywordSet(japanese, 2), readSet("english")].flatMap((set) => {
      const contestant = pressmark();
      contestant.put(set.documents);
      const { tuning, heldOut } = halves(set.questions);
      const figures = [
        [`search, ${set.name}, tuning half, nDCG@10`, measure(contestant, tuning).ndcg],
        [`search, ${set.name}, held-out half, nDCG@10`, measure(contestant, heldOut).ndcg],
      ];
      contestant.close();
      return figures;
    }),
  ) as Record<string, number>;
}
