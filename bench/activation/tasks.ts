/** What a model is asked. No question names a file; each is answered in one, and nowhere else. */

export interface Task {
  readonly name: string;
  readonly language: "en" | "ja";
  readonly question: string;
  /** Paths in the project, any of which holds the answer. */
  readonly right: readonly string[];
  /** What an answer that was read there holds. */
  readonly answer: RegExp;
}

export const tasks: readonly Task[] = [
  {
    name: "refund-window",
    language: "en",
    question:
      "A customer wants to send back printed cards that were delivered five weeks ago. Is that still possible with us?",
    right: ["docs/refunds.md"],
    answer: /37/,
  },
  {
    name: "idempotency",
    language: "en",
    question: "For how long do we remember the idempotency key of an order?",
    right: ["docs/adr/0007-idempotency.md"],
    answer: /19/,
  },
  {
    name: "press-jam",
    language: "en",
    question: "A press shows error E-417. What do I do first, and which way do I turn the key?",
    right: ["docs/runbooks/press-jam.md"],
    answer: /feeder|left/i,
  },
  {
    name: "restore",
    language: "en",
    question: "I have to restore the database from a snapshot. What must the new instance be called?",
    right: ["docs/runbooks/database-restore.md"],
    answer: /kappan-phoenix/,
  },
  {
    name: "rush",
    language: "en",
    question: "By what factor does our code raise the price of a rush order?",
    right: ["src/pricing.ts"],
    answer: /135|1\.35/,
  },
  {
    name: "attempts",
    language: "en",
    question: "After how many failed attempts does our queue set a job aside as pied?",
    right: ["src/queue.ts"],
    answer: /\b(?:6|six)\b/i,
  },
  {
    name: "upload",
    language: "en",
    question: "How large may a file be that a customer uploads to us?",
    right: ["config/limits.yaml"],
    answer: /84/,
  },
  {
    name: "fax",
    language: "en",
    question: "In which release did we drop the fax gateway, and what happens to orders by fax now?",
    right: ["CHANGELOG.md"],
    answer: /2\.9\.0/,
  },
  {
    name: "courier",
    language: "en",
    question: "Which courier do our framed prints have to go by?",
    right: ["docs/shipping.md"],
    answer: /tobiuo/i,
  },
  {
    name: "henpin",
    language: "ja",
    question: "法人のお客様は納品から何日以内なら返品できますか。",
    right: ["docs/ja/返品規定.md"],
    answer: /21|二十一/,
  },
  {
    name: "kyuka",
    language: "ja",
    question: "慶弔休暇は何日もらえますか。申請は誰に出しますか。",
    right: ["docs/ja/就業規則.md"],
    answer: /三好/,
  },
  {
    name: "yosan",
    language: "ja",
    question: "新しい裁断機の予算はいくらで承認されましたか。",
    right: ["docs/ja/会議メモ/2026-03-予算.md"],
    answer: /480|四百八十/,
  },
  {
    name: "yakan",
    language: "ja",
    question: "夜間に障害が起きたら、どの内線に電話すればよいですか。",
    right: ["docs/ja/障害対応.md"],
    answer: /7431/,
  },
  {
    name: "shonichi",
    language: "ja",
    question: "新入社員の初日の案内役は誰ですか。鍵はどこにありますか。",
    right: ["docs/ja/オンボーディング.md"],
    answer: /佐伯/,
  },
  {
    name: "washi",
    language: "ja",
    question: "土佐和紙三号の坪量は何グラムですか。",
    right: ["docs/ja/用紙.md"],
    answer: /81|八十一/,
  },
];
