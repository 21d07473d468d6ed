/** The alerts and the dashboard of deploy/monitoring, by Prometheus's own tool, and their names beside those of a running server. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sharedText } from "../../src/server/shared-metrics.ts";
import { startHttp } from "../../src/server/start-http.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "deploy/monitoring");
const hasTool = "CI" in process.env || existsSync("/usr/bin/promtool");

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
}

const dashboard = JSON.parse(readFileSync(join(folder, "grafana-dashboard.json"), "utf8")) as Dashboard;
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

function promtool(...words: readonly string[]): string {
  return execFileSync("promtool", words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function namesIn(text: string): ReadonlySet<string> {
  return new Set(text.match(/\b(?:pressmark|process|nodejs)_[a-z_]+\b/g));
}

describe.skipIf(!hasTool)("monitoring (needs prometheus)", () => {
  it("has alerts that are valid, and that ring when they should", () => {
    expect(promtool("check", "rules", "pressmark-alerts.yaml")).toContain("SUCCESS: 13 rules found");
    expect(promtool("test", "rules", "alert-examples.yaml")).toContain("SUCCESS");
  });

  it("has a dashboard of valid expressions", () => {
    const scratch = mkdtempSync(join(tmpdir(), "pressmark-monitoring-"));
    try {
      const rules = expressions.map((expr, index) => ({
        record: `panel:${index}`,
        expr: expr.replaceAll("$instance", ".*"),
      }));
      const file = join(scratch, "panels.json");
      writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules }] }));
      expect(promtool("check", "rules", file)).toContain(`SUCCESS: ${expressions.length} rules found`);
      writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules: [{ record: "a", expr: "sum(" }] }] }));
      expect(() => promtool("check", "rules", file)).toThrow(/could not parse expression|parse error/);
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  });

  it("names only figures that a server has, and the page names all of them", async () => {
    const scratch = mkdtempSync(join(tmpdir(), "pressmark-monitoring-"));
    const server = await startHttp({
      folders: [scratch],
      from: scratch,
      port: 0,
      allowedHosts: [],
      env: { HOME: scratch, XDG_STATE_HOME: scratch, XDG_CACHE_HOME: scratch },
      version: "1.2.3",
      err: process.stderr,
    });
    try {
      const text = await (await fetch(new URL("/metrics", server.url))).text();
      const shared = sharedText({
        instance: "a",
        bus: { engine: "nats", isConnected: true, lag: 0, gaps: 0, published: 0, received: 0 },
        leases: [],
        needed: new Set<string>(),
        pool: { open: 1, waiting: 0, max: 5 },
      });
      const known = new Set(Array.from((text + shared).matchAll(/^# TYPE (\S+)/gm), ([, name]) => name!));
      // A server of one instance has no figures of shared state.
      expect(text).not.toMatch(/pressmark_(?:bus|leases|database)/);
      expect(known.size).toBeGreaterThan(10);
      const alerts = readFileSync(join(folder, "pressmark-alerts.yaml"), "utf8");
      for (const name of namesIn(expressions.join(" ") + alerts))
        expect(known, name).toContain(name.replace(/_(?:bucket|sum|count)$/, ""));
      const page = namesIn(readFileSync(join(root, "docs/monitoring.md"), "utf8"));
      expect([...page].toSorted()).toEqual([...known].toSorted());
    } finally {
      await server.close();
      rmSync(scratch, { recursive: true, force: true });
    }
  });
});
