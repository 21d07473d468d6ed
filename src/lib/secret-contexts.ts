/** Rules for secrets without a known prefix: in URLs, headers and commands, and after a name that says what they are. */
import type { SecretRule } from "./secret-rules.ts";

const quotedOrBare = String.raw`(?:\\{0,3}"([^"\s\\]{8,500})\\{0,3}"|\\{0,3}'([^'\s\\]{8,500})\\{0,3}'|${"`"}([^${"`"}\s\\]{8,500})${"`"}|([^\s"'${"`"},;(){}[\]<>\\]{8,500}))`;

/** How names of secrets end. A position in a list is also called a token. */
const secretName =
  String.raw`(?:secret|passw(?:or)?d|(?<![a-z])pass|(?<=require)pass|pwd|(?<=[_.-]|bind|root)pw|(?<![a-z])psk|passphrase|(?:api|app|access|secret|signing|encryption|private|master|account|hmac|shared|consumer|license|auth|session|service|storage|secure|aes)[_-]?key(?:_base)?|` +
  String.raw`(?<!page[_-]?|next[_-]?|sync[_-]?|continuation[_-]?|cursor[_-]?)token|credential|auth|パスワード|暗証番号|暗証|トークン|シークレット|秘密鍵|(?:API|ＡＰＩ|認証)キー)` +
  String.raw`s?(?:[_-]?(?:id|base|base64|value|hash|string|prod(?:uction)?|live|dev|staging))?`;

/** The name of a secret in a store, and a checksum, are not secrets. */
const notAName = String.raw`(?<!\d:|checksum\/)`;

/** From a name to its value, in the syntax of formats and languages. */
const ways: readonly string[] = [
  // name = value, "name": "value", 'name' => 'value', name := value, name: type = value; also on the next line if indented.
  String.raw`\\{0,3}["'\])]{0,2}[ \t]{0,8}(?::[ \t]{0,4}[&\w<>?.]{1,30}[ \t]{0,4}(?==))?(?::=|=>|[:=：＝])[ \t]{0,8}(?:!!\w{1,10}[ \t]{1,4})?(?:[>|][-+]?[ \t]{0,4})?(?:\r?\n[ \t]{1,40})?`,
  // {"name": "name", "value": "value"}, name="name" value="value", and the same on two lines of YAML.
  String.raw`\\{0,3}["']?[ \t]{0,4}(?:,|\r?\n|(?<=["'])[ \t])[ \t]{0,40}\\{0,3}["']?value\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}`,
  // variable "name" { … default = "value"
  String.raw`"[ \t]{0,4}\{[^{}]{0,200}?default[ \t]{0,8}=[ \t]{0,8}`,
  // <name>value</name>, <key>name</key> <string>value</string>
  String.raw`(?:<\/key>\s{0,40}<string)?>`,
];

export const secretContexts: readonly SecretRule[] = [
  {
    kind: "a password in a URL",
    hint: "://",
    // Up to the last "@" before a slash: people often forget to escape.
    pattern: /\b[a-z][a-z0-9+.-]{1,30}:\/\/[^\s/:@"'`<>{}$]{0,200}:([^\s/"'`<>{}$]{3,200})@[\w[.-]/gi,
    must: "no placeholder",
  },
  {
    kind: "a password in a URL",
    hint: "jdbc:oracle:",
    pattern: /jdbc:oracle:\w{1,10}:[^\s/@]{1,60}\/([^\s/@"']{3,200})@/g,
    must: "no placeholder",
  },
  {
    kind: "a key in a connection string",
    hint: "=",
    pattern: /(?:AccountKey|SharedAccessKey|SharedAccessSignature)=([A-Za-z0-9+/%=&:.-]{20,400})/g,
  },
  {
    kind: "a signature in a URL",
    hint: "ig",
    pattern: /[?&](?:sig|X-Amz-Signature|X-Goog-Signature)=([A-Za-z0-9%+/=_-]{20,700})/g,
  },
  {
    kind: "a token in a header",
    hint: "earer ",
    pattern: /\b[Bb]earer ([A-Za-z0-9._~+/-]{20,2000}=*)/g,
    must: "random",
  },
  {
    kind: "a token in a header",
    hint: "uthorization",
    pattern:
      /authorization\\?["']?[ \t]{0,4}[:=][ \t]{0,4}\\?["']?(?:Basic|Token|ApiKey|Api-Key|Digest|Bot) ([A-Za-z0-9._~+/-]{12,500}={0,2})/gi,
    must: "random",
  },
  {
    kind: "a password in a command",
    hint: "-u",
    pattern: /(?<=\s)(?:-u|--user)[ =]?["']?[^\s:"']{1,80}:([^\s"']{6,200})/g,
    must: "random",
  },
  {
    kind: "a password in a command",
    hint: "-p",
    pattern:
      /\b(?:mysql|mariadb|sshpass|docker|podman|helm|oc|az)\w{0,10}\b[^\n|;&]{0,200}? -p ?["']?([^\s"']{6,200})/g,
    must: "unspoken",
  },
  {
    kind: "a password in a command",
    hint: "BY ",
    pattern: /\bIDENTIFIED (?:WITH \w{1,40} )?BY (?:PASSWORD )?["']([^\s"']{6,200})/g,
    must: "no placeholder",
  },
  {
    kind: "a password in a list of them",
    hint: ":",
    // host:port:database:user:password
    pattern: /^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,60}:[\w.*-]{1,60}:([^\s:]{6,200})\r?$/gm,
    must: "random",
  },
  {
    kind: "a private key",
    hint: '"kty"',
    pattern: /"(?:d|p|q|dp|dq|qi|k)"\s{0,4}:\s{0,4}"([A-Za-z0-9_-]{22,1500})"/g,
  },
  {
    kind: "a private key",
    hint: "Private-Lines:",
    pattern: /Private-Lines: \d{1,4}\r?\n((?:[A-Za-z0-9+/=]{1,80}\r?\n){1,200})/g,
  },
  {
    kind: "a value that is called a secret",
    hint: "",
    pattern: new RegExp(`${notAName}${secretName}(?:${ways.join("|")})${quotedOrBare}`, "gi"),
    must: "random",
  },
  {
    kind: "a value that is called a secret",
    hint: "",
    // --name value, set("name", "value"), name = call("value"), | name | value |, 名前は「値」, and .netrc: here the value must not look like
    // words.
    pattern: new RegExp(
      String.raw`${notAName}${secretName}\\{0,3}["'${"`"}]?(?:,?[ \t]{1,4}|[ \t]{0,4}\|[ \t]{0,4}|[はがを][ \t]{0,4}|[ \t]{0,4}[:=][ \t]{0,4}[\w.:-]{1,40}[ (]{1,2}(?=["']))["'${"`"}「『]?([^\s"'${"`"},;(){}[\]<>\\」』]{12,500})`,
      "gi",
    ),
    must: "unspoken",
  },
];
