/** Checks the server's own certificate: whether it can be used, and until when. */
import { ResourceError } from "../errors.ts";
import { type Certificate, type CertificateFiles, loadCertificate } from "./certificate.ts";
import type { CheckResult } from "./examine.ts";

const dayMs = 24 * 3600 * 1000;
/** A certificate should be renewed before this long, or a third of its lifetime if that is shorter. */
const soonMs = 14 * dayMs;

export function examineCertificate(files: CertificateFiles, nowMs: number): CheckResult {
  const about = "certificate";
  let certificate: Certificate;
  try {
    certificate = loadCertificate(files);
  } catch (cause) {
    if (!(cause instanceof ResourceError)) throw cause;
    return { about, state: "broken", says: cause.message, advice: "correct server.tls, or renew the certificate" };
  }
  const { validFrom, validTo } = certificate;
  const until = new Date(validTo).toISOString();
  if (nowMs >= validTo) return { about, state: "broken", says: `expired at ${until}`, advice: "renew it" };
  if (nowMs < validFrom)
    return {
      about,
      state: "broken",
      says: `is not valid before ${new Date(validFrom).toISOString()}`,
      advice: "check the clock of this machine",
    };
  const isSoon = validTo - nowMs < Math.min(soonMs, (validTo - validFrom) / 3);
  const hosts = certificate.hosts.length === 0 ? "no host" : certificate.hosts.join(", ");
  if (isSoon)
    return {
      about,
      state: "hint",
      says: `expires at ${until}`,
      advice: "renew it; a running server then uses it at once",
    };
  return { about, state: "ok", says: `for ${hosts}, valid until ${until}` };
}
