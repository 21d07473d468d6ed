/** Which labels are shown, and which of their values: what tells of a person is a mark that stands for it. */
import { createHmac, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { invalid, quote } from "../../errors.ts";
import { createGlob, GlobError } from "../../lib/glob.ts";

export type Labels = Readonly<Record<string, string>>;

export interface LabelMasking {
  /** Whether this label may be named in a question, and is shown as it is. */
  maySee(label: string): boolean;
  /** Whether its values are shown as they are, even those that would be marks under another label. */
  isPlain(label: string): boolean;
  /** What may be shown of these labels. The same value has the same mark, for as long as the source is open. */
  clean(labels: Labels): Record<string, string>;
  /** A value of this label, as it may be shown. */
  cleanValue(label: string, value: string): string;
  /** A text that may repeat the values of these labels. */
  cleanText(text: string, labels: Labels): string;
  /** A text in which a server spells labels and their values: errors name the series that they are about. */
  cleanSaid(text: string): string;
}

export interface LabelMaskingOptions {
  /** Patterns; none means all of them. */
  readonly labels: readonly string[];
  /** Patterns. */
  readonly redact: readonly string[];
}

/** Labels that tell who asked, by the names that exporters give them. */
export const personalLabels: readonly string[] = [
  "client",
  "client_*",
  "*_client_ip",
  "remote_addr*",
  "remote_ip",
  "remote_host",
  "peer",
  "peer_*",
  "ip",
  "*_ip",
  "ip_*",
  "ipaddr*",
  "*forwarded_for",
  "user",
  "user_id",
  "user_name",
  "username",
  "email",
  "*_email",
];

/** Without these, nothing could be told apart, and they tell of machines, not of people. */
const alwaysShown = new Set(["__name__", "le", "quantile"]);
/** Where a machine that is measured says its own address. */
const ownAddress = new Set(["instance", "exported_instance"]);
const markBytes = 4;
/** Shorter values are too likely to be part of something else. */
const shortestRepeated = 3;

export function createLabelMasking({ labels, redact }: LabelMaskingOptions): LabelMasking {
  const allowed = labels.map((pattern) => globOf(pattern, "labels"));
  const masked = redact.map((pattern) => globOf(pattern, "redactLabels"));
  const key = randomBytes(32);
  const known = new Map<string, "shown" | "masked" | "hidden">();

  function kindOf(label: string): "shown" | "masked" | "hidden" {
    const before = known.get(label);
    if (before) return before;
    const kind = judge(label);
    // Names come from a server, and there could be no end of them.
    if (known.size < 10_000) known.set(label, kind);
    return kind;
  }

  function judge(label: string): "shown" | "masked" | "hidden" {
    if (alwaysShown.has(label)) return "shown";
    // Names with dots or slashes are one name here.
    const name = label.replaceAll("/", "_");
    if (allowed.length > 0 && !allowed.some((glob) => glob.matches(name))) return "hidden";
    return masked.some((glob) => glob.matches(name)) ? "masked" : "shown";
  }

  function markOf(label: string, value: string): string {
    const digest = createHmac("sha256", key).update(`${label}\0${value}`).digest("hex");
    return `redacted-${digest.slice(0, 2 * markBytes)}`;
  }

  function cleanValue(label: string, value: string): string {
    if (value === "") return value;
    const isPersonal = allowed.length === 0 && !isPlain(label) && isPerson(value);
    return isPersonal || kindOf(label) === "masked" ? markOf(label, value) : value;
  }

  return {
    maySee: (label) => kindOf(label) === "shown",
    isPlain,
    cleanValue,

    clean(given) {
      const shown: Record<string, string> = {};
      for (const [label, value] of Object.entries(given))
        if (kindOf(label) !== "hidden") shown[label] = cleanValue(label, value);
      return shown;
    },

    cleanSaid: (text) =>
      text.replaceAll(spelled, (whole, label: string, sign: string, value: string) => {
        if (kindOf(label) === "hidden") return "…";
        const shown = cleanValue(label, value);
        return shown === value ? whole : `${label}${sign}"${shown}"`;
      }),

    cleanText(text, given) {
      let cleaned = text;
      // The longer first: one may be the beginning of another.
      for (const [label, value] of Object.entries(given).sort(([, a], [, b]) => b.length - a.length)) {
        const shown = kindOf(label) === "hidden" ? "…" : cleanValue(label, value);
        if (shown !== value && value.length >= shortestRepeated) cleaned = cleaned.replaceAll(value, shown);
      }
      return cleaned;
    },
  };
}

function isPlain(label: string): boolean {
  return alwaysShown.has(label) || ownAddress.has(label);
}

/** A label and its value in quotes, as in `{job="a", "odd name"="b"}`. */
const spelled = /(?<![^\s"{}(),=!~])"?([^\s"{}(),=!~]+)"?(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"?/g;

/** An address of the network, with or without a port, or one for mail. */
function isPerson(value: string): boolean {
  if (value.length > 320) return false;
  if (value.includes("@")) return /^[^\s@]+@[^\s@.]+\.[^\s@]+$/.test(value);
  const bare = /^\[(.+)\](?::\d+)?$/.exec(value)?.[1] ?? /^([\d.]+):\d+$/.exec(value)?.[1] ?? value;
  return isIP(bare) !== 0;
}

function globOf(pattern: string, option: string) {
  try {
    return createGlob(pattern);
  } catch (cause) {
    if (cause instanceof GlobError) throw invalid(`${option}: ${quote(pattern, 60)}: ${cause.message}`);
    throw cause;
  }
}
