/** The project that the tasks are about: a small print shop, in English and Japanese, with facts that no model can know or guess. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

export const project: Readonly<Record<string, string>> = {
  "README.md": `# Kappan

Orders, prices and presses of a letterpress print shop. Start with docs/architecture.md; people in the office read docs/ja.

    npm start        # the order desk on port 8094
    npm run presses  # the drivers of the presses
`,
  "AGENTS.md": `# For agents

Never edit generated files below dist. Money is counted in whole yen, never in floats. Ask before you touch src/presses.
`,
  "CHANGELOG.md": `# Changelog

## 2.9.0
- The fax gateway is gone; orders by fax are typed in by hand at the Kanda branch.
- Proofs expire after 12 days.

## 2.8.4
- Rush orders are priced by src/pricing.ts alone.
`,
  "docs/architecture.md": `# Architecture

Three processes: the desk (HTTP), the galley (a queue of jobs) and the presses (drivers). They share one database and talk through the queue only.

## Queue
Jobs wait in the table \`galley\`. A job is claimed by one press for 95 seconds and claimed again by another if nothing is heard.

## Storage
Proofs are kept in the bucket \`kappan-proofs\`, originals in \`kappan-plates\`.
`,
  "docs/refunds.md": `# Refunds

## Window
A customer may return printed goods within 37 days of delivery. Custom dies are never refunded.

## Who decides
Up to 60,000 yen the desk decides; above that, the shop's owner.
`,
  "docs/shipping.md": `# Shipping

Parcels leave at 16:20 on working days. Islands take four more days. Framed prints go by the courier Tobiuo only.
`,
  "docs/adr/0007-idempotency.md": `# 7. Idempotency keys

Status: accepted

An order is sent with a key of its own. Keys are kept for 19 hours, after which the same key means a new order. Longer would have filled the table.
`,
  "docs/adr/0008-no-floats.md": `# 8. Money without floats

Status: accepted

All amounts are whole yen.
`,
  "docs/runbooks/press-jam.md": `# A press is jammed

Error E-417: the platen lock did not close.

1. Stop the feeder.
2. Turn the brass key twice to the left, then wait until the lamp is violet.
3. Run \`presses reset --soft\`. Never pull the sheet out by hand.
`,
  "docs/runbooks/database-restore.md": `# Restore the database

Snapshots are made at 03:40. Restore into a new instance named \`kappan-phoenix\`, check it with \`desk verify --all\`, then switch the alias.
`,
  "docs/runbooks/certificates.md": `# Certificates

Renewed by hand every November, by the owner of the Kanda branch.
`,
  "docs/glossary.md": `# Glossary

- **forme**: type locked up for printing.
- **galley**: here, the queue of jobs.
- **make-ready**: the time before the first good sheet; 11 minutes on the old Heidelberg.
`,
  "docs/ja/返品規定.md": `# 返品規定

## 期間
法人のお客様の返品は納品から21日以内に限ります。名入れ商品は対象外です。

## 送料
返送料は三千円まで当社が負担します。
`,
  "docs/ja/就業規則.md": `# 就業規則

## 休暇
慶弔休暇は四日間です。申請は前日の正午までに総務の三好へ出してください。

## 勤務時間
始業は八時四十分です。
`,
  "docs/ja/オンボーディング.md": `# オンボーディング

初日の案内役は佐伯さんです。鍵は二階の青い棚にあります。印刷機の講習は二週目の水曜日に行います。
`,
  "docs/ja/障害対応.md": `# 障害対応

夜間の障害は内線7431に電話してください。十五分以内に応答がなければ店主の携帯に連絡します。
`,
  "docs/ja/会議メモ/2026-03-予算.md": `# 予算会議 2026年3月

新しい裁断機の予算は480万円で承認された。導入は七月の予定。反対は一名。
`,
  "docs/ja/会議メモ/2026-04-定例.md": `# 定例会議 2026年4月

梅雨の前に倉庫の除湿機を点検する。担当は大槻。
`,
  "docs/ja/用語集.md": `# 用語集

- **ゲラ**: 校正用の刷り見本。社内では三部刷る。
- **面付け**: 頁を一枚の版に並べること。
`,
  "docs/ja/用紙.md": `# 用紙

土佐和紙三号の坪量は81グラムです。湿度が六割を超えたら使いません。
`,
  "src/pricing.ts": `/** What an order costs, in whole yen. */
export const rushFactor = 135; // per cent
export const minimumYen = 4200;

export function price(sheets: number, yenPerSheet: number, isRush: boolean): number {
  const plain = Math.max(minimumYen, sheets * yenPerSheet);
  return isRush ? Math.ceil((plain * rushFactor) / 100) : plain;
}
`,
  "src/queue.ts": `/** The galley: jobs that wait for a press. */
export const maxAttempts = 6;
export const claimSeconds = 95;

/** After so many failed attempts a job is set aside as "pied". */
export function isPied(attempts: number): boolean {
  return attempts >= maxAttempts;
}
`,
  "src/desk.ts": `/** The order desk. */
export const port = 8094;
`,
  "config/limits.yaml": `# What customers may send us.
uploadMegabytes: 84
pagesPerJob: 640
proofsPerOrder: 3
`,
  "config/presses.yaml": `presses:
  - name: heidelberg-1
    makeReadyMinutes: 11
  - name: adana
    makeReadyMinutes: 4
`,
  "notes/2026-02-standup.md": `# Stand-up, February

Yuki moves the proofs to the new bucket. Nothing else.
`,
};

/** Adds what no task asks for, so that a right read is no accident. */
const distractors = 24;

export async function writeProject(folder: string): Promise<void> {
  const more = Array.from({ length: distractors }, (_, at): [string, string] => {
    const number = String(at + 1).padStart(3, "0");
    return [`data/orders/order-${number}.md`, `# Order ${number}\n\n${50 + at * 7} cards, ivory, one colour.\n`];
  });
  for (const [name, text] of [...Object.entries(project), ...more]) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
