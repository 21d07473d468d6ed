/** A table as the catalogue describes it, without what may not be shown. */
import type { AllowList } from "../../backends/sql/allow-list.ts";
import type { Constraint, Reference, TableIndex } from "../../backends/sql/description.ts";
import type { AttachedObject, OwnedSequence } from "./attached.ts";
import type { PostgresRow } from "./connection.ts";
import { hiddenText, mayMention, mayName, type Mention } from "./mentions.ts";
import { mayServe, readsOf } from "./view-reads.ts";

/** `quoted` is a name as in SQL, quoted by the server; that of a table has its schema. */
export interface CatalogTable {
  readonly id: string;
  readonly schema: string;
  readonly name: string;
  readonly quoted: string;
  readonly letter: string;
  readonly owner: string;
  readonly comment: string | null;
  readonly estimate: number;
  readonly isUnlogged: boolean;
  /** For a materialized view: whether it has rows. */
  readonly isPopulated: boolean;
  readonly partition: string | null;
  readonly partitionMentions: readonly Mention[] | null;
  /** For a partition: the table that it is part of, and which rows it holds. */
  readonly root: string | null;
  readonly bound: string | null;
  /** Whether its columns are those of its parent, in the same order. */
  readonly isInParentOrder: boolean | null;
  readonly parents: readonly { readonly schema: string; readonly table: string; readonly quoted: string }[] | null;
  readonly ofType: readonly [schema: string, type: string] | null;
  readonly method: string | null;
  readonly tablespace: string | null;
  readonly options: string;
  readonly server: readonly [name: string, options: string | null] | null;
  readonly hasRowSecurity: boolean;
  readonly isForced: boolean;
  readonly identity: string;
  readonly columns: readonly RawColumn[] | null;
  readonly constraints: readonly RawConstraint[] | null;
  readonly foreignKeys: readonly RawForeignKey[] | null;
  readonly referencedBy: readonly (Reference & { readonly schema: string })[] | null;
  readonly indexes: readonly RawTableIndex[] | null;
  readonly attached: readonly AttachedObject[] | null;
  readonly sequences: readonly OwnedSequence[] | null;
  /** `isOwn`: on the table, its columns and their sequences. */
  readonly comments: readonly { readonly id: string; readonly isOwn: boolean; readonly statement: string }[] | null;
  readonly grants: readonly string[] | null;
  readonly columnGrants: readonly string[] | null;
  readonly query: string | null;
  readonly mentions: readonly Mention[] | null;
  /** For a view, including indirect reads. */
  readonly reads: readonly Mention[] | null;
}

export interface RawColumn {
  readonly name: string;
  readonly quoted: string;
  readonly type: string;
  readonly typeSchema: string;
  readonly typeTable: readonly [schema: string, table: string] | null;
  readonly nullable: boolean;
  /** From PostgreSQL 18 on: the clause of the column, and the statement that adds the constraint later. */
  readonly notNull: {
    readonly id: string;
    readonly isLocal: boolean;
    readonly inline: string | null;
    readonly add: string;
  } | null;
  readonly default: string | null;
  readonly generated: string;
  readonly identity: string;
  readonly identityOptions: string | null;
  readonly collation: readonly [schema: string, name: string, quoted: string] | null;
  readonly comment: string | null;
  readonly isLocal: boolean;
  readonly parentDefault: string | null;
  readonly parentNullable: boolean;
  readonly foreignOptions: string | null;
  /** As in `ALTER COLUMN … SET STORAGE PLAIN`. */
  readonly changes: readonly string[];
  readonly mentions: readonly Mention[] | null;
}

export interface RawIndex {
  readonly id: string;
  readonly quoted: string;
  /** Without the schema. */
  readonly name: string;
  /** For an index of a partition: the one of its parent. */
  readonly parent: string | null;
  readonly isClustered: boolean;
  readonly isIdentity: boolean;
  /** As in `ALTER INDEX … SET (fillfactor=70)`. */
  readonly changes: readonly string[];
}

export interface RawConstraint extends Omit<Constraint, "kind"> {
  readonly id: string;
  readonly quoted: string;
  readonly kind: string;
  readonly isLocal: boolean;
  /** Whether it is added when the table exists: inside the table, one that is not valid would become valid. */
  readonly isLate: boolean;
  readonly index: RawIndex | null;
  readonly mentions: readonly Mention[] | null;
}

interface RawTableIndex extends Required<TableIndex> {
  readonly id: string;
  readonly index: RawIndex;
  readonly mentions: readonly Mention[] | null;
}

export interface RawForeignKey {
  readonly id: string;
  readonly name: string;
  readonly quoted: string;
  readonly columns: readonly string[];
  readonly schema: string;
  readonly table: string;
  readonly to: readonly string[];
  readonly definition: string;
  readonly isValid: boolean;
  readonly onUpdate: string;
  readonly onDelete: string;
}

/** Undefined for a table that is not served. From others, everything hidden is removed here, and nowhere else. */
export function visibleTable(row: PostgresRow, allow: AllowList): CatalogTable | undefined {
  const raw = row as unknown as CatalogTable;
  if (!mayServe({ schema: raw.schema, table: raw.name }, raw.letter, readsOf(row), allow)) return undefined;
  const shown = <T extends { readonly mentions: readonly Mention[] | null }>(objects: readonly T[] | null) =>
    (objects ?? []).filter(({ mentions }) => mayMention(mentions, allow));
  const constraints = shown(raw.constraints);
  const indexes = shown(raw.indexes);
  const foreignKeys = (raw.foreignKeys ?? []).filter((key) => allow.table(key));
  const attached = shown(raw.attached).filter(({ isOpaque }) => !isOpaque || maySayAnything(allow));
  const parents = (raw.parents ?? []).filter((parent) => allow.table(parent));
  const ofType = raw.ofType && mayName([raw.ofType[0], null], allow) ? raw.ofType : null;
  const isCut = parents.length < (raw.parents?.length ?? 0) || ofType !== raw.ofType;
  const ids = new Set(
    [...constraints, ...indexes, ...foreignKeys, ...attached]
      .map(({ id }) => id)
      .concat(constraints.flatMap(({ index }) => index?.id ?? []))
      .concat((raw.columns ?? []).flatMap(({ notNull }) => (notNull?.isLocal ? notNull.id : []))),
  );
  const isPartitionShown = mayMention(raw.partitionMentions, allow);
  const isQueryShown = mayMention(raw.mentions, allow) && mayMention(raw.reads, allow);
  return {
    ...raw,
    columns: (raw.columns ?? []).map((column) => visibleColumn(isCut ? { ...column, isLocal: true } : column, allow)),
    constraints: isCut
      ? constraints.map((each) => ({ ...each, isLocal: true, index: each.index && { ...each.index, parent: null } }))
      : constraints,
    foreignKeys,
    referencedBy: (raw.referencedBy ?? []).filter((key) => allow.table(key)),
    indexes: isCut ? indexes.map((each) => ({ ...each, index: { ...each.index, parent: null } })) : indexes,
    attached,
    parents,
    ofType,
    comments: (raw.comments ?? []).filter(({ id, isOwn }) => isOwn || ids.has(id)),
    ...(!isPartitionShown && { partition: hiddenText }),
    ...(!isQueryShown && { query: null }),
    ...(raw.server && !maySayAnything(allow) && { server: [raw.server[0], null] as const }),
  };
}

function visibleColumn(column: RawColumn, allow: AllowList): RawColumn {
  const { type, typeSchema, typeTable, collation } = column;
  return {
    ...column,
    type: mayName(typeTable ?? [typeSchema, null], allow) ? type : hiddenText,
    default: column.default === null || mayMention(column.mentions, allow) ? column.default : hiddenText,
    collation: collation && mayName([collation[0], null], allow) ? collation : null,
    foreignOptions: maySayAnything(allow) ? column.foreignOptions : null,
  };
}

/** Whether texts may be shown that may name anything: arguments of triggers, options of foreign tables. */
function maySayAnything({ restricts }: AllowList): boolean {
  return !restricts.schemas && !restricts.tables;
}
