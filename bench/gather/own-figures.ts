/** Figures on this repository's own history that are the same in every run, to be compared with kept ones. */
import { measure } from "./measure.ts";
import { loadProduct } from "./product.ts";
import { ownRepository } from "./repositories.ts";

const commits = 6;
const budget = 16_000;
/** Not the newest commits, and a part of the files, so that it takes only seconds. */
const until = "cf54658c495b57e9428fbf474088916e6ba336bc";
const below = "src/sources/";

/** Name → share, from 0 to 1. Undefined if this clone does not have the history. */
export async function ownGatherFigures(): Promise<Readonly<Record<string, number>> | undefined> {
  const repository = ownRepository();
  if (!repository) return undefined;
  const products = new Map([["gather", await loadProduct()]]);
  const { rows } = await measure(
    { ...repository, until, below },
    { commits, budgets: [budget], products, withBaselines: false },
  );
  const { files, lines } = rows.get("gather")![0]!;
  return { "gather, changed files at 16k": files, "gather, changed lines at 16k": lines };
}
