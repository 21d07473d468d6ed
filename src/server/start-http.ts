/** Starts the HTTP server. */
import type { AddressInfo } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { StdioStart } from "../config/hosts/host-setups.ts";
import { packageFolder, programFile } from "../lib/package-folder.ts";
import { denied } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import type { Caller } from "../resources.ts";
import { createActionEndpoint } from "../transport/action-endpoint.ts";
import type { SessionRecords } from "../transport/session-records.ts";
import { createForwardedReader } from "../transport/forwarded.ts";
import { listen } from "../transport/listen.ts";
import { createFeatures, createServerProtocol } from "./features.ts";
import { type Server, type OpenServerOptions, openServer } from "./open-server.ts";
import { createHealth } from "./health.ts";
import { createServerMetrics } from "./server-metrics.ts";
import { createPickerPage } from "./picker-page.ts";
import type { AuditLog } from "./audit-log.ts";
import type { Certificate } from "./certificate.ts";
import { defaultPort, serverUrl } from "./server-url.ts";
import { type Gate, openGate } from "./open-gate.ts";
import type { Tracing } from "./tracing.ts";
import { startTracing } from "./tracing-target.ts";
import { createWriteCheck } from "./write-check.ts";

const prepareMs = 50;
/** Authorization requests contain a state of the client's choice. */
const maxAuthorizationUrl = 8192;

export interface HttpServerOptions extends Omit<OpenServerOptions, "live"> {
  /** Default: server.host in the config, else 127.0.0.1. */
  readonly host?: string;
  /** 0 chooses a free port. Default: server.port in the config, else 7357. */
  readonly port?: number;
  /** Additional host names that clients may use for this machine. */
  readonly allowedHosts: readonly string[];
  /** Additional origins whose pages may send requests. */
  readonly allowedOrigins?: readonly string[];
  /** File with the token that callers must send. Default: the token of the environment or the config. */
  readonly tokenFile?: string;
  readonly version: string;
  /** False offers no tools, regardless of the config. */
  readonly tools?: boolean;
  /** Folder of the picker's files. Default: the one in the package. */
  readonly pickerFolder?: string;
}

export interface HttpServer {
  /** URL of the MCP endpoint. */
  readonly url: string;
  /** URL of the picker. */
  readonly picker: string;
  /** Environment variable with the token for hosts, if callers must send one. */
  readonly tokenVariable?: string;
  /** How hosts connect: by the public URL, and without a token where they can sign in. */
  readonly forHosts: { readonly url: string; readonly tokenVariable?: string };
  /** URL of the server card, if the server has a public URL. */
  readonly card?: string;
  /** The picker's URL for people; contains a one-time code if callers must authenticate. */
  invite(): string;
  /** The address to listen on, as configured. */
  readonly host: string;
  /** Whether only this machine can reach it. */
  readonly loopback: boolean;
  /** Whether everyone who can connect is the owner, because no token is required and only this machine can connect. */
  readonly everyoneIsOwner: boolean;
  readonly mounts: Server["mounts"];
  /** The config's file, if there is one. */
  readonly config?: string;
  /** Ends listens with their result, lets running requests finish, then closes everything. */
  close(): Promise<void>;
}

export async function startHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { version } = options;
  let guarded: Gate | undefined;
  let audit: AuditLog | undefined;
  let tracing: Tracing | undefined;
  const opened = await openServer({
    ...options,
    live: true,
    reloaded() {
      guarded?.reload();
      if (opened.register.served && !guarded && opened.access?.callers.length)
        opened.runtime.log(
          "warn",
          "the config now names callers, but until pressmark serve is started again nobody needs a token",
        );
      audit?.write({ what: "config", outcome: "allowed", detail: "the config changed" });
    },
  });
  let pressmark = opened;
  try {
    audit = await openAudit(opened);
    if (audit) {
      const { createAuditedResources } = await import("./audited-resources.ts");
      const resources = createAuditedResources(opened.resources, audit, opened.explain);
      pressmark = withMembers<Server>(opened, { resources });
    }
    const { settings, quotas } = pressmark;
    quotas.follow(({ caller, quota, count }) => {
      audit?.write({ what: "quota", caller, outcome: "denied", detail: `${quota} refused ${count} times` });
    });
    const { log } = pressmark.runtime;
    const host = options.host ?? settings.host ?? "127.0.0.1";
    const port = options.port ?? settings.port ?? defaultPort;
    if (pressmark.withheld.includes("tls"))
      throw denied("the config requires HTTPS but is not trusted, so nothing is served; trust the config first");
    if (pressmark.withheld.includes("state") || pressmark.withheld.includes("bus"))
      throw denied(
        "the config names a shared database but is not trusted, so nothing is served; trust the config first",
      );
    const { tls } = settings;
    let certificateInUse: Certificate | undefined;
    const certificate = tls && (await import("./certificate.ts")).openCertificate(tls, pressmark.runtime);
    guarded = await openGate(pressmark, options, audit);
    const gate = guarded;
    // The caller is decided once it is known who can reach the server.
    let caller: Caller = gate?.owner ?? { id: "anonymous" };
    const features = createFeatures({ pressmark, tools: options.tools });
    const metrics = createServerMetrics({
      version,
      index: pressmark.index,
      counts: () => listening.http.counts,
      quotas,
      cacheStats: pressmark.cacheStats,
      shared: pressmark.shared,
      runtime: pressmark.runtime,
    });
    const health = createHealth({
      server: pressmark,
      certificate: () => certificateInUse,
      async isOwner(request, response, path) {
        if (!gate) return caller.owner === true;
        return (await gate.gate(request, response, path)) === "welcome" && gate.callerOf(request)?.owner === true;
      },
      runtime: pressmark.runtime,
    });
    const { runtime, shared } = pressmark;
    tracing = await startTracing({ settings, runtime, env: options.env }, version, shared?.instance);
    const protocol = createServerProtocol(pressmark, features, {
      version,
      isPrivate: gate !== undefined,
      metrics,
      tracing,
    });
    const everywhere = host === "0.0.0.0" || host === "::";
    const allowedHosts = [
      ...options.allowedHosts,
      ...(settings.allowedHosts ?? []),
      ...(settings.publicUrl === undefined ? [] : [new URL(settings.publicUrl).host]),
    ];
    const allowedOrigins = [...(options.allowedOrigins ?? []), ...(settings.allowedOrigins ?? [])];
    const posts = features.actions ? createActionEndpoint(pressmark.resources, log, quotas) : undefined;
    const page = createPickerPage({
      folder: () => options.pickerFolder ?? join(packageFolder(), "dist", "picker"),
      begin(request) {
        const asking = gate ? gate.callerOf(request) : caller;
        return asking && quotas.begin(asking);
      },
      log,
    });
    const base = settings.publicUrl && (await import("../config/auth.ts")).baseOf(settings.publicUrl);
    const card = base
      ? (await import("./server-card.ts")).createServerCard({
          publicUrl: base,
          title: features.server.title,
          version,
          revisions: protocol.revisions,
          quotas: pressmark.visitorQuotas,
        })
      : undefined;
    const listening = await listen(protocol, {
      host,
      port,
      log,
      identify: gate ? gate.callerOf : () => caller,
      isOneCaller: !gate?.hasCallers,
      gate: gate?.gate,
      publicDocument: card?.find,
      healthCheck: health.find,
      challenge: gate?.challenge,
      quotas,
      records: await openSessionRecords(pressmark),
      authorize: gate?.authorize?.(createWriteCheck({ ...features, endpoint: posts })),
      posts,
      isPage: (path) => path === "/" || gate?.isPage?.(path) === true,
      maxUrlLength: gate?.isPage && maxAuthorizationUrl,
      // Metrics count what a caller may not see, so they exist for the owner alone.
      elsewhere: (request, response, path) =>
        ((!gate?.hasCallers || gate.callerOf(request)?.owner === true) && metrics.answer(request, response, path)) ||
        page(request, response, path),
      allowedHosts: [...allowedHosts, ...(everywhere ? ownNames() : []), ...(certificate?.hosts ?? [])],
      certificate,
      // Pages of the public URL are our own, also if a proxy changes Host.
      allowedOrigins:
        settings.publicUrl === undefined ? allowedOrigins : [...allowedOrigins, new URL(settings.publicUrl).origin],
      forwarded: settings.trustProxy?.length
        ? createForwardedReader({ proxies: settings.trustProxy, header: settings.proxyHeader })
        : undefined,
    });
    const loopback = isLoopback(listening.server.address());
    // Additional names and origins mean that others connect, perhaps through a proxy.
    const hasProxy = Boolean(settings.trustProxy?.length) || pressmark.withheld.includes("trustProxy");
    if (!gate && loopback && allowedHosts.length === 0 && allowedOrigins.length === 0 && !hasProxy)
      caller = { ...caller, owner: true };
    // Lets the caller receive the URL first.
    setTimeout(() => void features.prepare(caller), prepareMs).unref();
    const closing = new AbortController();
    certificateInUse = certificate;
    const renewing = certificate?.follow((renewed) => {
      certificateInUse = renewed;
      listening.renew(renewed);
    }, closing.signal);
    const url = serverUrl({ host, port: listening.port, certificate });
    const picker = new URL("/", url).href;
    const invited = base ? `${base}/` : picker;
    const forHosts = { url: base ? `${base}/mcp` : url, tokenVariable: settings.auth ? undefined : gate?.variable };
    pressmark.register.served = {
      version,
      ...forHosts,
      stdio: loopback && !base ? stdioStart(options, pressmark) : undefined,
    };

    /** Serves until a load balancer has noticed that the server is not ready. */
    async function drain(): Promise<void> {
      const { drainMs = 0 } = settings;
      if (drainMs === 0) return;
      listening.drain();
      log("info", `requests are served for ${drainMs} ms more, until load balancers have noticed`);
      await pressmark.runtime.wait(drainMs, new AbortController().signal);
    }

    return {
      url,
      picker,
      tokenVariable: gate?.variable,
      forHosts,
      card: card?.url,
      invite: () => (gate ? `${invited}?code=${gate.newCode()}` : invited),
      host,
      loopback,
      everyoneIsOwner: !gate && caller.owner === true,
      get mounts() {
        return pressmark.mounts;
      },
      config: pressmark.config,
      async close() {
        health.stop();
        await drain();
        metrics.close();
        features.close();
        closing.abort();
        await renewing;
        pressmark.shared?.prepareToClose();
        await listening.close();
        await tracing?.close();
        await gate?.close();
        // A shared log needs what is closed with the server.
        if (pressmark.shared) await audit?.close();
        await pressmark.close();
        await audit?.close();
      },
    };
  } catch (cause) {
    pressmark.shared?.prepareToClose();
    await tracing?.close();
    await guarded?.close();
    if (pressmark.shared) await audit?.close();
    await pressmark.close();
    await audit?.close();
    throw cause;
  }
}

/** Undefined if the config does not ask for it. */
async function openAudit({ settings, stateFolder, config, runtime, shared }: Server): Promise<AuditLog | undefined> {
  if (!settings.audit || config === undefined) return undefined;
  const { openAuditLog } = await import("./open-audit-log.ts");
  return openAuditLog({ settings: settings.audit, stateFolder, config, runtime, shared });
}

/** Undefined if a session ends with this process. */
async function openSessionRecords({ shared, runtime }: Server): Promise<SessionRecords | undefined> {
  return shared && (await import("./session-records.ts")).createSessionRecords({ shared, runtime });
}

/** Host names of this machine; names that a stranger pointed here are not included. */
function ownNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) => each);
  return [hostname(), ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address))];
}

function isLoopback(bound: AddressInfo | string | null): boolean {
  if (bound === null || typeof bound === "string") return true;
  return bound.address === "::1" || bound.address.startsWith("127.") || bound.address.startsWith("::ffff:127.");
}

/** Serves the same over stdio. */
function stdioStart({ folders, config, from, env, tools }: HttpServerOptions, server: Server): StdioStart {
  const words =
    config !== undefined
      ? ["--config", resolve(from, config)]
      : folders.length > 0
        ? folders.map((folder) => resolve(from, folder))
        : [server.config === undefined ? from : dirname(server.config)];
  return {
    words: tools === false ? [...words, "--no-tools"] : words,
    env,
    program: programFile(),
  };
}
