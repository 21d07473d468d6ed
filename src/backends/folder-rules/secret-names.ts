/** Names that are not served whatever the rest is: what holds passwords, tokens and private keys. */

/** All in lower case. */
const secretNames = new Set([
  "id_rsa",
  "id_dsa",
  "id_ecdsa",
  "id_ecdsa_sk",
  "id_ed25519",
  "id_ed25519_sk",
  ".netrc",
  "_netrc",
  ".npmrc",
  ".yarnrc.yml",
  ".pypirc",
  ".git-credentials",
  ".pgpass",
  ".my.cnf",
  ".htpasswd",
  ".dockercfg",
  ".vault-token",
  "application_default_credentials.json",
]);

const secretEndings = new Set([".pem", ".key", ".p8", ".p12", ".pfx", ".pk8", ".ppk", ".keystore", ".jks", ".kdbx"]);

/** Names that are secret in one folder only. */
const secretIn: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [".aws", new Set(["credentials", "config"])],
  [".docker", new Set(["config.json"])],
  [".kube", new Set(["config"])],
  [".cargo", new Set(["credentials", "credentials.toml"])],
]);

/** The names that are secret only in a folder of this name, in lower case. */
export function secretsIn(folder: string): ReadonlySet<string> | undefined {
  return folder.charCodeAt(0) < 0x7f && folder.charCodeAt(0) !== dot ? undefined : secretIn.get(foldName(folder));
}

/** Whether a folded name speaks of a secret, hidden or not. `inFolder` are the names that are secret there and nowhere else. */
export function isSecret(folded: string, inFolder: ReadonlySet<string> | undefined): boolean {
  const last = folded.lastIndexOf(".");
  return (
    secretNames.has(folded) ||
    (last >= 0 && (secretEndings.has(last === 0 ? folded : folded.slice(last)) || folded.startsWith(".env"))) ||
    (inFolder?.has(folded) ?? false)
  );
}

/** A name as it is compared, so that neither case nor a look-alike of a letter makes another name of it. */
export function foldName(name: string): string {
  if (isFolded.test(name)) return name;
  return (isPlain.test(name) ? name : name.normalize("NFKC").replace(invisible, "")).toLowerCase();
}

const isPlain = /^[ -~]*$/;
const isFolded = /^[ -@[-~]*$/;
/** What some file systems take no notice of. */
const invisible = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const dot = 0x2e;
