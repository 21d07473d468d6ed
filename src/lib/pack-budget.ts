/** The budget of packs, and the reasons for what has no room in it. */

/** Maximum number of tokens of a pack, unless the caller chooses another. */
export const defaultBudget = 16_000;

export const noRoom = "does not fit into the budget";
export const partlyNoRoom = "fits into the budget only in part";
