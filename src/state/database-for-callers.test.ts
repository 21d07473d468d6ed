import { describe, expect, it } from "vitest";
import { unavailable } from "../errors.ts";
import { databaseForCallers } from "./database-for-callers.ts";
import { sqlStateOf } from "./open-database.ts";
import { failureOf, useDatabase } from "./test-database.ts";

const test = useDatabase();
const operatorOnly = "the database of this server cannot be used; its operator finds the reason in the log";
const away = "the database of this server is away; try again soon";

describe.skipIf(test.missing)("a database for callers", () => {
  it("says nothing about the config when the database fails", async () => {
    const database = databaseForCallers(test.open());
    const messagesOf = async (text: string): Promise<string[]> => {
      const failed = [
        database.query(text),
        database.transaction((sql) => sql.query(text)),
        database.snapshot((sql) => sql.query(text)),
      ];
      return (await Promise.all(failed.map(failureOf))).map(({ message }) => message);
    };
    expect(await messagesOf("select * from missing")).toEqual([operatorOnly, operatorOnly, operatorOnly]);
    await test.server().stop("immediate");
    expect(await messagesOf("select 1")).toEqual([away, away, away]);
    await test.server().start();
  });

  it("shows the work of a transaction the errors of its statements", async () => {
    const database = databaseForCallers(test.open());
    const seen: unknown[] = [];
    await failureOf(
      database.snapshot((sql) =>
        sql.query("select * from missing").catch((cause) => {
          seen.push(sqlStateOf(cause));
          throw cause;
        }),
      ),
    );
    expect(seen).toEqual(["42P01"]);
  });

  it.each(["transaction", "snapshot"] as const)("passes on what the work of a %s throws", async (method) => {
    const database = databaseForCallers(test.open());
    const own = unavailable("a mount was removed; search again");
    expect(await failureOf(database[method](() => Promise.reject(own)))).toBe(own);
    const instead = (sql: { query(text: string): Promise<unknown> }): Promise<unknown> =>
      sql.query("select * from missing").catch(() => Promise.reject(own));
    expect(await failureOf(database[method](instead))).toBe(own);
  });
});
