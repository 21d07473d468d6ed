/** The budget of packs, and whether a pack is smaller than its budget for want of relevant content. */

/** Maximum number of tokens of a pack, unless the caller chooses another. */
export const defaultBudget = 16_000;

/** Reasons on the receipt for what has no room in the budget. */
export const noRoom = "does not fit into the budget";
export const partlyNoRoom = "fits into the budget only in part";

/** True if a pack is smaller than its budget because nothing else is relevant enough. */
export function hasAllRelevant({
  belowFloor = 0,
  leftOut,
}: {
  readonly belowFloor?: number;
  readonly leftOut: readonly { readonly why: string }[];
}): boolean {
  return belowFloor > 0 && !leftOut.some(({ why }) => why === noRoom || why === partlyNoRoom);
}
