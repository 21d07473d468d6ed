/** Applies what a newer version of Pressmark would add to the tables, while instances of this version run. */
import { migrate } from "../../src/state/migrate.ts";
import { openDatabase } from "../../src/state/open-database.ts";
import { stateMigrations } from "../../src/state/tables.ts";
import { createRuntime } from "../../src/server/runtime.ts";

const url = process.env["CLUSTER_STATE"]!;
const number = Math.max(...stateMigrations.map((each) => each.number)) + 1;
const database = openDatabase({ url, runtime: createRuntime({ write: () => true }) });
const applied = await migrate(database, [
  ...stateMigrations,
  { area: "state", number, title: "add a column", statements: ["alter table records add column remark text"] },
]);
await database.close();
if (!applied.some((each) => each.number === number)) throw new Error("the migration was not applied");
