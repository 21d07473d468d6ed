/** Certificates for tests, made with openssl. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CertificateFiles } from "./certificate.ts";

interface MadeCertificate extends CertificateFiles {
  /** The certificate, which is its own authority. */
  readonly ca: string;
}

/** A new key and a certificate for it, in this folder. */
export function makeCertificate(folder: string, name: string, hosts = "DNS:localhost,IP:127.0.0.1"): MadeCertificate {
  const cert = join(folder, `${name}.pem`);
  const key = join(folder, `${name}.key`);
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "60"];
  execFileSync(
    "openssl",
    [...words, "-subj", `/CN=${name}`, "-addext", `subjectAltName=${hosts}`, "-keyout", key, "-out", cert],
    { stdio: "ignore" },
  );
  return { cert, key, ca: readFileSync(cert, "utf8") };
}
