/** Limits the metadata that a client may register, or publish in its metadata document. */

/** RFC 7591. */
type ClientMetadata = Record<string, unknown>;

const maxRedirectUris = 10;
const maxLength = 8192;
const loopback = new Set(["localhost", "127.0.0.1", "[::1]"]);
const grantTypes = ["authorization_code", "refresh_token"];

/** Not needed, or decided by this server. */
const ignored = [
  "client_secret",
  "client_secret_expires_at",
  "contacts",
  "default_acr_values",
  "default_max_age",
  "id_token_signed_response_alg",
  "initiate_login_uri",
  "logo_uri",
  "policy_uri",
  "require_auth_time",
  "response_modes",
  "scope",
  "sector_identifier_uri",
  "subject_type",
  "tos_uri",
];

/**
 * Changes the metadata to what this server supports, as RFC 7591 permits: a client learns the result from the response. Returns why a
 * client is refused: a redirect URI must not send a code over an open network or to another program.
 */
export function restrictClient(metadata: ClientMetadata): string | undefined {
  if (JSON.stringify(metadata).length > maxLength) return `a client may have ${maxLength} characters of metadata`;
  const uris = metadata["redirect_uris"];
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > maxRedirectUris)
    return `redirect_uris must contain 1 to ${maxRedirectUris} URIs`;
  const parsed = uris.map((uri: unknown) => (typeof uri === "string" ? URL.parse(uri) : null));
  if (!parsed.every(isRedirectTarget))
    return "redirect_uris must be https: URLs, or http: URLs of localhost, 127.0.0.1 or [::1]";
  // A program on the user's computer may listen on any port, and any program can claim to be it: the user is asked each time.
  metadata["application_type"] = parsed.some((url) => url && isLoopback(url)) ? "native" : "web";
  // A secret that everyone may register proves nothing; PKCE protects the code.
  if (metadata["token_endpoint_auth_method"] !== "private_key_jwt") metadata["token_endpoint_auth_method"] = "none";
  const requested = metadata["grant_types"];
  metadata["grant_types"] = Array.isArray(requested)
    ? grantTypes.filter((type) => type === "authorization_code" || requested.includes(type))
    : grantTypes;
  metadata["response_types"] = ["code"];
  for (const key of ignored) delete metadata[key];
  return undefined;
}

/** Whether the URL is one of a program on the user's own computer. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && loopback.has(hostname);
}

function isRedirectTarget(url: URL | null): boolean {
  return url !== null && url.username === "" && url.password === "" && (url.protocol === "https:" || isLoopback(url));
}
