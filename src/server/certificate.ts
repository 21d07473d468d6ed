/** The server's own certificate: read and checked, and read again when it is renewed. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { invalid, quote, toResourceError } from "../errors.ts";
import { canonicalAddress } from "../lib/networks.ts";
import type { Runtime } from "../runtime.ts";
import { hostInUrl } from "../transport/guard.ts";
import type { CertificatePair } from "../transport/listen.ts";
import { watchFile } from "./watch-file.ts";

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Certificate extends CertificatePair {
  /** Hosts that the certificate is for, as they are written in URLs; without wildcards. */
  readonly hosts: readonly string[];
  /** Milliseconds since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
}

export interface OpenCertificate extends Certificate {
  /** Calls `use` with each renewed certificate until the signal is aborted. A pair that cannot be used is logged, and the earlier one stays. */
  follow(use: (certificate: Certificate) => void, signal: AbortSignal): Promise<void>;
}

const maxFileBytes = 1024 * 1024;
/** A renewal writes two files; a pair that does not fit is read once more after this long. */
const secondLookMs = 1000;

/** Throws "invalid" if a file cannot be used, or the key is not the one of the certificate. */
export function loadCertificate(files: CertificateFiles): Certificate {
  const cert = readPem(files.cert);
  const key = readPem(files.key);
  const certificate = parse(files.cert, () => new X509Certificate(cert), "a certificate in PEM format");
  const privateKey = parse<KeyObject>(
    files.key,
    () => createPrivateKey(key),
    "an unencrypted private key in PEM format",
  );
  if (!certificate.checkPrivateKey(privateKey))
    throw invalid(`the key in ${quote(files.key)} does not belong to the certificate in ${quote(files.cert)}`);
  // Also reads the chain.
  parse(files.cert, () => createSecureContext({ cert, key }), "a chain of certificates in PEM format");
  return {
    cert,
    key,
    hosts: hostsOf(certificate),
    validFrom: certificate.validFromDate.getTime(),
    validTo: certificate.validToDate.getTime(),
  };
}

/** Loads the certificate for a server, which may follow it. */
export function openCertificate(files: CertificateFiles, runtime: Runtime): OpenCertificate {
  const certificate = loadCertificate(files);
  if (certificate.validTo <= runtime.now())
    runtime.log("warn", "the certificate has expired, so clients refuse to connect; renew it", { file: files.cert });
  return { ...certificate, follow: (use, signal) => followCertificate(files, use, runtime, signal) };
}

async function followCertificate(
  files: CertificateFiles,
  use: (certificate: Certificate) => void,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<void> {
  let reading: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    const renewed = await loadCalmly();
    if (!renewed) return;
    use(renewed);
    runtime.log("info", "the renewed certificate is in use", { validTo: new Date(renewed.validTo).toISOString() });
  }

  async function loadCalmly(): Promise<Certificate | undefined> {
    try {
      return loadCertificate(files);
    } catch {
      // Perhaps the other file is still being written.
      await runtime.wait(secondLookMs, signal).catch(() => undefined);
    }
    if (signal.aborted) return undefined;
    try {
      return loadCertificate(files);
    } catch (cause) {
      const { message } = toResourceError(cause);
      runtime.log("error", `the certificate has changed and cannot be used, so the earlier one stays: ${message}`);
      return undefined;
    }
  }

  const readInOrder = () => (reading = reading.then(read));
  await Promise.all([files.cert, files.key].map((file) => watchFile(file, readInOrder, { runtime, signal })));
}

function hostsOf({ subjectAltName = "" }: X509Certificate): string[] {
  return subjectAltName.split(", ").flatMap((name) => {
    const [, kind, value = ""] = /^(DNS|IP Address):([\w.:-]+)$/.exec(name) ?? [];
    if (kind === "DNS") return [value.toLowerCase()];
    const address = kind === undefined ? undefined : canonicalAddress(value);
    return address === undefined ? [] : [hostInUrl(address)];
  });
}

function readPem(file: string): Buffer {
  try {
    if (statSync(file).size > maxFileBytes) throw invalid(`${quote(file)} is larger than ${maxFileBytes} bytes`);
    return readFileSync(file);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw invalid(
      code === "ENOENT" ? `no file ${quote(file)}; check server.tls` : `${quote(file)} cannot be read (${code})`,
    );
  }
}

/** Errors of the parser may repeat the file: only what was expected is said. */
function parse<T>(file: string, work: () => T, expected: string): T {
  try {
    return work();
  } catch {
    throw invalid(`${quote(file)} is not ${expected}`);
  }
}
