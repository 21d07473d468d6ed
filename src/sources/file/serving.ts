/** Which paths below a folder are served: one rule for every door. */

/** Never served, whatever else is: what holds passwords, tokens and private keys. All in lower case. */
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

/** Folders of other people's files. */
const skippedFolders = new Set(["node_modules"]);

/** Whether this path may be listed, read, completed or announced. "" is the folder itself. */
export function isServed(path: string): boolean {
  if (path === "") return true;
  let folder = "";
  for (const name of path.split("/")) {
    if (!isServedName(name, folder)) return false;
    folder = name;
  }
  return true;
}

/** Whether a name is served in a folder of this name, given that the folder is. */
export function isServedName(name: string, folder: string): boolean {
  // Hidden names, `.` and `..` among them, and what is no name at all.
  if (name === "" || name.charCodeAt(0) === dot || name.includes("\0")) return false;
  if (process.platform === "win32" && /[\\:]/.test(name)) return false;
  const folded = fold(name);
  return folded.charCodeAt(0) !== dot && !skippedFolders.has(folded) && !isSecretFolded(folded, folder);
}

/** Whether a name speaks of a secret, hidden or not. */
export function isSecretName(name: string, folder: string): boolean {
  return isSecretFolded(fold(name), folder);
}

function isSecretFolded(folded: string, folder: string): boolean {
  return (
    secretNames.has(folded) ||
    folded.startsWith(".env") ||
    secretEndings.has(folded.slice(folded.lastIndexOf("."))) ||
    (folder.charCodeAt(0) === dot && (secretIn.get(fold(folder))?.has(folded) ?? false))
  );
}

/** A name as it is compared, so that neither case nor a look-alike of a letter makes another name of it. */
function fold(name: string): string {
  return (isPlain.test(name) ? name : name.normalize("NFKC")).toLowerCase();
}

const isPlain = /^[ -~]*$/;
const dot = 0x2e;
