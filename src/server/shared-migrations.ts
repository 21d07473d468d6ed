/** All tables of the shared database. */
import { searchMigrations } from "../search/postgres/tables.ts";
import type { Migration } from "../state/migrations.ts";
import { stateMigrations } from "../state/tables.ts";

export const sharedMigrations: readonly Migration[] = [...stateMigrations, ...searchMigrations];
