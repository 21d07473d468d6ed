/** Names that are never served by default: files with passwords, tokens and private keys. */

/** In lower case. */
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

/** Names that are secret only in one folder. */
const secretIn: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [".aws", new Set(["credentials", "config"])],
  [".docker", new Set(["config.json"])],
  [".kube", new Set(["config"])],
  [".cargo", new Set(["credentials", "credentials.toml"])],
]);

/** The names that are secret only in a folder of this name (lower case). */
export function secretsIn(folder: string): ReadonlySet<string> | undefined {
  return folder.charCodeAt(0) < 0x7f && folder.charCodeAt(0) !== dot ? undefined : secretIn.get(foldName(folder));
}

/** Whether a folded name is that of a secret. `inFolder` are the names that are secret only in its folder. */
export function isSecret(folded: string, inFolder: ReadonlySet<string> | undefined): boolean {
  const last = folded.lastIndexOf(".");
  return (
    secretNames.has(folded) ||
    (last >= 0 && (secretEndings.has(last === 0 ? folded : folded.slice(last)) || folded.startsWith(".env"))) ||
    (inFolder?.has(folded) ?? false)
  );
}

/** Normalizes a name for comparison, so that neither case nor look-alike letters make a difference. */
export function foldName(name: string): string {
  if (isFolded.test(name)) return name;
  return (isPlain.test(name) ? name : name.normalize("NFKC").replace(invisible, "")).toLowerCase();
}

const isPlain = /^[ -~]*$/;
const isFolded = /^[ -@[-~]*$/;
/** Invisible characters that some file systems ignore. */
const invisible = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const dot = 0x2e;
