/** Builds an FTS5 trigram index over the files of a tree, as a process of its own: the measure of indexing them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

const [root, file] = process.argv.slice(2);
if (root === undefined || file === undefined) throw new Error("node bench/search/fts5-build.ts ROOT FILE");

/** As many as the indexer puts at once. */
const batch = 256;
const database = new DatabaseSync(file);
database.exec(`pragma journal_mode = wal; pragma synchronous = normal;
  create virtual table passages using fts5 (path, text, tokenize = 'trigram')`);
const insert = database.prepare("insert into passages (path, text) values (?, ?)");
let files = 0;
let bytes = 0;
let readMicros = 0;
for (const folder of readdirSync(root)) {
  const names = readdirSync(join(root, folder));
  for (let from = 0; from < names.length; from += batch) {
    const before = process.cpuUsage();
    const texts = names.slice(from, from + batch).map((name): [string, string] => {
      const path = join(folder, name);
      return [path, readFileSync(join(root, path), "utf8")];
    });
    const { user, system } = process.cpuUsage(before);
    readMicros += user + system;
    database.exec("begin");
    for (const [path, text] of texts) {
      insert.run(path, text);
      files += 1;
      bytes += Buffer.byteLength(text);
    }
    database.exec("commit");
  }
}
database.exec("pragma wal_checkpoint(truncate)");
database.close();
const { user, system } = process.cpuUsage();
const figures = { files, bytes, cpuS: (user + system) / 1e6, readS: readMicros / 1e6, indexBytes: statSync(file).size };
console.log(JSON.stringify(figures));
