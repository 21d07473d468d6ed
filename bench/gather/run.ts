/** How much of what a commit changed is in the pack that its message asks for. Usage: `node bench/gather/run.ts --help`. */
import { parseArgs } from "node:util";
import { averageOf, measure, type Report } from "./measure.ts";
import { loadProduct } from "./product.ts";
import { cloneBundles, type MeasuredRepository, ownRepository, repositoryAt } from "./repositories.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "24" },
    budgets: { type: "string", default: "8000,16000,32000" },
    only: { type: "string" },
    against: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout
    .write(`node bench/gather/run.ts [REPOSITORY…] [--commits N] [--budgets N,…] [--only WHICH] [--against DIR]

REPOSITORY  folders with a git history; default: the bundles below the folder in PRESSMARK_CORPORA, else this repository
--commits   number of commits of each repository (24)
--budgets   in tokens (8000,16000,32000)
--only      tuning, held-out, or the name of a repository
--against   folder of another checkout of Pressmark, measured in the same run
`);
  process.exit(0);
}
const budgets = values.budgets.split(",").map(Number);

function print(title: string, rows: Report["rows"]): void {
  process.stdout.write(`\n${title}\n`);
  process.stdout.write(`${" ".repeat(34)}${budgets.map((budget) => `${budget / 1000}k`.padEnd(12)).join("")}\n`);
  for (const [name, shares] of rows) {
    const cells = shares.map(({ files, lines }) => `${figure(files)}/${figure(lines)}`.padEnd(12));
    process.stdout.write(`  ${name.padEnd(32)}${cells.join("")}\n`);
  }
}

function figure(share: number): string {
  return share.toFixed(3).replace(/^0/, "");
}

function chosen(): { readonly repositories: readonly MeasuredRepository[]; close?(): void } {
  if (positionals.length > 0) return { repositories: positionals.map(repositoryAt) };
  const corpora = process.env["PRESSMARK_CORPORA"];
  if (corpora !== undefined && corpora !== "")
    return cloneBundles(
      corpora,
      ({ name, group }) => values.only === undefined || values.only === name || values.only === group,
    );
  process.stdout.write("PRESSMARK_CORPORA is not set: measuring on the history of this repository\n");
  const own = ownRepository();
  if (!own) process.stdout.write("this clone does not have it: nothing is measured\n");
  return { repositories: own ? [own] : [] };
}

const products = new Map([["gather", await loadProduct()]]);
if (values.against !== undefined) products.set(`gather, ${values.against}`, await loadProduct(values.against));
const { repositories, close } = chosen();
const reports = new Map<MeasuredRepository, Report>();
try {
  for (const repository of repositories) {
    const report = await measure(repository, {
      commits: Number(values.commits),
      budgets,
      products,
      withBaselines: true,
    });
    if (report.commits === 0)
      process.stdout.write(`\n${repository.name}: no commits of a size that can be asked for\n`);
    else {
      reports.set(repository, report);
      const times = Array.from(report.packMs.values(), (ms) => `${ms.toFixed(0)} ms`).join(" and ");
      const group = repository.group === undefined ? "" : ` (${repository.group})`;
      print(`${repository.name}${group}: ${report.commits} commits, ${times} a pack`, report.rows);
    }
  }
} finally {
  close?.();
}
for (const group of new Set(Array.from(reports.keys(), (repository) => repository.group))) {
  const all = [...reports].filter(([repository]) => repository.group === group).map(([, report]) => report);
  if (all.length > 1) print(`${group ?? "all"}: ${all.length} repositories, each counting the same`, averageOf(all));
}
// The threads of another checkout are not closed by this one.
process.exit();
