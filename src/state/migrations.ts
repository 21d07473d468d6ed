/** Changes to the tables of the shared database, which instances of different versions use at the same time. */

/**
 * Expand: adds what older versions ignore. An instance applies it when it starts, while older ones run. It must not depend on a contract
 * migration, which may be applied later.
 * Contract: removes what only older versions use. `pressmark migrate` applies it, after the last older instance has stopped.
 */
export interface Migration {
  /** Tables that are changed together, each with its own numbers: `state`, `search`. */
  readonly area: string;
  /** From 1, in the order of the list. */
  readonly number: number;
  /** What it does, as an imperative sentence: "create the table of records". */
  readonly title: string;
  /** In the schema of the database, in one transaction. */
  readonly statements: readonly string[];
  /** Present for a contract migration: a version of Pressmark that does not know the migration of this number can no longer run. */
  readonly needs?: number;
}

export interface MigrationState {
  readonly applied: readonly Pick<Migration, "area" | "number" | "title">[];
  /** Of the given list, in order. */
  readonly pending: readonly Migration[];
}

export function isContract({ needs }: Migration): boolean {
  return needs !== undefined;
}
