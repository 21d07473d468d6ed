/** Priority and audience of a document: from the first rule that matches its path. */
import { invalid, quote } from "../../errors.ts";
import { createGlob, GlobError } from "../../lib/glob.ts";
import { isArchived } from "../../lib/is-archived.ts";
import type { Annotations } from "../../resources.ts";
import { documentFormatOf } from "./formats.ts";

/** As written in the config. */
export interface RuleOption {
  readonly match: string | readonly string[];
  readonly priority?: number;
  readonly audience?: NonNullable<Annotations["audience"]>;
}

export interface DocumentRating {
  /** The matching rule: its name, or its pattern. */
  readonly rule: string;
  readonly priority: number;
  readonly audience: NonNullable<Annotations["audience"]>;
}

interface Rule extends DocumentRating {
  /** The path must be in lower case. */
  fits(path: string): boolean;
}

const everyone: NonNullable<Annotations["audience"]> = ["user", "assistant"];

/** If no rule matches. */
const otherwise: DocumentRating = { rule: "default", priority: 0.5, audience: everyone };

/** Before the other built-in rules: an archived README is archived. */
const archive: DocumentRating = { rule: "archive", priority: 0.1, audience: ["user"] };

/** A built-in rule. Uses names instead of patterns for speed, because all rules are tried for thousands of documents. */
interface BuiltIn extends DocumentRating {
  /** Names of folders, and of files without their extensions (`{name,name.*,**\/name/**}`). */
  readonly names: string;
  /** Parts of file names (`*part*`). */
  readonly parts?: string;
  readonly endings?: string;
  /** Whether the parts do not apply to PDFs. */
  readonly textOnly?: boolean;
}

const builtIn: readonly BuiltIn[] = [
  {
    rule: "constitution",
    names: "constitution agents claude gemini copilot-instructions runbooks playbook playbooks 憲法 憲章 運用手順",
    parts: "runbook 手順書",
    priority: 1,
    audience: ["assistant"],
  },
  {
    rule: "readme",
    names: "onboarding getting-started getting_started quickstart quick-start オンボーディング はじめに 導入",
    parts: "readme",
    priority: 0.8,
    audience: everyone,
  },
  {
    rule: "architecture",
    names:
      "design decisions decision adr adrs api api-reference reference specs security " +
      "設計 意思決定 決定 仕様 リファレンス セキュリティ アーキテクチャ",
    parts: "architecture 設計 仕様 アーキテクチャ セキュリティ",
    priority: 0.7,
    audience: ["assistant"],
  },
  {
    rule: "guide",
    names: "guides guide tutorials howto how-to handbook manual ガイド 手引き マニュアル",
    parts: "guide tutorial handbook manual ガイド 手引き マニュアル",
    textOnly: true,
    priority: 0.5,
    audience: everyone,
  },
  {
    rule: "proposal",
    names: "proposals rfc rfcs 提案",
    parts: "proposal 提案",
    endings: "pdf",
    priority: 0.3,
    audience: ["user"],
  },
];

/** How much lower the priority of a text is that also exists in the preferred language. */
export const twinStep = 0.2;

/** The configured rules come first. A pattern without a slash matches a name at any depth; case is ignored. */
export function createRules(configured: readonly RuleOption[]): (path: string) => DocumentRating {
  const first = configured.flatMap(toRules);
  const rest = builtIn.map(toBuiltIn);
  return (path) => {
    const folded = path.toLowerCase().normalize("NFC");
    const matching = (rules: readonly Rule[]) => rules.find(({ fits }) => fits(folded));
    return matching(first) ?? (isArchived(path) ? archive : (matching(rest) ?? otherwise));
  };
}

function toRules({ match, priority = otherwise.priority, audience = everyone }: RuleOption): Rule[] {
  return (typeof match === "string" ? [match] : match).map((pattern) => {
    const folded = pattern.toLowerCase().replace(/^\//, "");
    try {
      const { matches } = createGlob(pattern.includes("/") ? folded : `**/${folded}`);
      return { rule: pattern, priority, audience, fits: matches };
    } catch (cause) {
      if (!(cause instanceof GlobError)) throw cause;
      throw invalid(`the rule ${quote(pattern)} is invalid: ${cause.message}`);
    }
  });
}

function toBuiltIn({ rule, priority, audience, names, parts, endings, textOnly = false }: BuiltIn): Rule {
  const words = new Set(names.split(" "));
  const held = parts?.split(" ") ?? [];
  const ends = endings?.split(" ") ?? [];
  return {
    rule,
    priority,
    audience,
    fits(path) {
      const segments = path.split("/");
      const name = segments.pop() as string;
      const dot = name.indexOf(".");
      const ending = name.slice(name.lastIndexOf(".") + 1);
      return (
        words.has(dot > 0 ? name.slice(0, dot) : name) ||
        segments.some((segment) => words.has(segment)) ||
        (held.some((part) => name.includes(part)) && !(textOnly && documentFormatOf(name) === "document")) ||
        ends.includes(ending)
      );
    },
  };
}
