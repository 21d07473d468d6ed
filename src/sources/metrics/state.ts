/** Alerts and targets with masked labels. */
import { cutAt } from "../../lib/cut-at.ts";
import { isApiObject } from "./api.ts";
import type { LabelMasking } from "./label-masking.ts";
import { labelsIn } from "./matrix.ts";

const maxText = 2000;

export function toAlerts(data: unknown, redaction: LabelMasking): object {
  return {
    alerts: listIn(data, "alerts").map((alert) => {
      const labels = labelsIn(alert["labels"]);
      const annotations = Object.entries(labelsIn(alert["annotations"])).map(([name, text]) => [
        name,
        // Annotations repeat label values.
        redaction.cleanText(text, labels).slice(0, maxText),
      ]);
      return {
        labels: redaction.clean(labels),
        annotations: Object.fromEntries(annotations) as object,
        ...taken(alert, ["state", "activeAt", "value"]),
      };
    }),
  };
}

/** Without the discovered labels, which reveal more than the final ones. */
export function toTargets(data: unknown, redaction: LabelMasking): object {
  return {
    activeTargets: listIn(data, "activeTargets").map((target) => {
      const labels = labelsIn(target["labels"]);
      const { scrapeUrl: url, lastError: error } = target;
      return {
        labels: redaction.clean(labels),
        ...taken(target, [
          "scrapePool",
          "health",
          "lastScrape",
          "lastScrapeDuration",
          "scrapeInterval",
          "scrapeTimeout",
        ]),
        ...(typeof url === "string" && { scrapeUrl: withoutSecrets(redaction.cleanText(url, labels)) }),
        ...(typeof error === "string" && { lastError: withoutSecrets(redaction.cleanText(error, labels)) }),
      };
    }),
  };
}

function listIn(data: unknown, name: string): Readonly<Record<string, unknown>>[] {
  const list = isApiObject(data) ? data[name] : undefined;
  return Array.isArray(list) ? list.filter(isApiObject) : [];
}

function taken(from: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, string | number> {
  const found: Record<string, string | number> = {};
  for (const name of names) {
    const value = from[name];
    if (typeof value === "number") found[name] = value;
    if (typeof value === "string") found[name] = value.slice(0, maxText);
  }
  return found;
}

/** Removes users, passwords and queries, which may hold tokens, from addresses. */
export function withoutSecrets(text: string): string {
  return text
    .slice(0, maxText)
    .replaceAll(/(https?:\/\/)[^\s/@"]*@/g, "$1")
    .replaceAll(/https?:\/\/[^\s"]*/g, (url) => cutAt(url, /[?#]/));
}
