/** Which labels and values are shown: personal values are replaced by pseudonyms. */
import { createHmac, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import { invalid, quote } from "../../errors.ts";
import { createGlob, GlobError } from "../../lib/glob.ts";

export type Labels = Readonly<Record<string, string>>;

export interface LabelMasking {
  /** Whether this label may be used in a query, and is shown unchanged. */
  maySee(label: string): boolean;
  /** Whether its values are shown unchanged, even those that would be masked under another label. */
  isPlain(label: string): boolean;
  /** The labels that may be shown. The same value has the same pseudonym as long as the source is open. */
  clean(labels: Labels): Record<string, string>;
  /** A value of this label, masked if needed. */
  cleanValue(label: string, value: string): string;
  /** Masks the values of these labels in a text. */
  cleanText(text: string, labels: Labels): string;
  /** Masks label values in an error text of the server, which names the series concerned. */
  cleanSaid(text: string): string;
}

interface LabelMaskingOptions {
  /** Patterns; none means all labels. */
  readonly labels: readonly string[];
  /** Patterns. */
  readonly redact: readonly string[];
}

/** Labels that identify a user, by the names that exporters use. */
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

/** Needed to distinguish series; they describe machines, not people. */
const alwaysShown = new Set(["__name__", "le", "quantile"]);
/** Labels with the address of the measured machine itself. */
const ownAddress = new Set(["instance", "exported_instance"]);
const markBytes = 4;
/** Shorter values are too likely to be part of other words. */
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
    // Bounded, because names come from the server.
    if (known.size < 10_000) known.set(label, kind);
    return kind;
  }

  function judge(label: string): "shown" | "masked" | "hidden" {
    if (alwaysShown.has(label)) return "shown";
    // A slash is not a separator here.
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
      text.replaceAll(written, (whole, label: string, sign: string, value: string) => {
        if (kindOf(label) === "hidden") return "…";
        const shown = cleanValue(label, value);
        return shown === value ? whole : `${label}${sign}"${shown}"`;
      }),

    cleanText(text, given) {
      let cleaned = text;
      // Longest first: one value may be a prefix of another.
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

/** A label and its quoted value, as in `{job="a", "odd name"="b"}`. */
const written = /(?<![^\s"{}(),=!~])"?([^\s"{}(),=!~]+)"?(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"?/g;

/** A network address, with or without a port, or a mail address. */
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
