/** Encrypted texts that can be neither read nor forged by those who hold them. */

export interface TextSeal {
  /** The text must not end with white space. Equal texts with equal contexts give equal results, with the same key also after a restart. Undefined if the result would be too long. */
  seal(text: string, context: string): string | undefined;
  /** Undefined for anything that `seal` did not make with this key for this context. */
  open(sealed: string, context: string): string | undefined;
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;
/** Texts are padded to a multiple of this, so that the length reveals little. */
const fill = 256;
const maxLength = 65_536;

/** `use` separates the keys of different uses. Crypto is loaded and keys are derived on first use. */
export function createTextSeal(key: Uint8Array, use: string): TextSeal {
  let made: ReturnType<typeof derive> | undefined;
  const keys = () => (made ??= derive(key, use));

  return {
    seal(text, context) {
      const { crypto, sealing, naming } = keys();
      const padded = pad(text);
      const header = headerOf(context);
      const nonce = crypto.createHmac("sha256", naming).update(header).update(padded).digest().subarray(0, nonceLength);
      const cipher = crypto.createCipheriv("aes-256-gcm", sealing, nonce, { authTagLength: tagLength });
      cipher.setAAD(header);
      const parts = [Buffer.of(version), nonce, cipher.update(padded), cipher.final(), cipher.getAuthTag()];
      const sealed = Buffer.concat(parts).toString("base64url");
      return sealed.length > maxLength ? undefined : sealed;
    },

    open(text, context) {
      if (text.length > maxLength) return undefined;
      const sealed = Buffer.from(text, "base64url");
      // The decoder ignores stray characters and bits; only the canonical form is valid.
      if (sealed.length < 1 + nonceLength + tagLength || sealed[0] !== version) return undefined;
      if (sealed.toString("base64url") !== text) return undefined;
      const { crypto, sealing } = keys();
      try {
        const nonce = sealed.subarray(1, 1 + nonceLength);
        const decipher = crypto.createDecipheriv("aes-256-gcm", sealing, nonce, { authTagLength: tagLength });
        decipher.setAAD(headerOf(context));
        decipher.setAuthTag(sealed.subarray(-tagLength));
        const opened = decipher.update(sealed.subarray(1 + nonceLength, -tagLength));
        return Buffer.concat([opened, decipher.final()]).toString("utf8").trimEnd();
      } catch {
        return undefined;
      }
    },
  };
}

function derive(key: Uint8Array, use: string) {
  const crypto = process.getBuiltinModule("node:crypto");
  const derived = (what: string) => crypto.createHmac("sha256", key).update(`pressmark ${use}: ${what}`).digest();
  return { crypto, sealing: derived("sealing"), naming: derived("nonce") };
}

/** Begins with its own length, so that header and text cannot be confused. */
function headerOf(context: string): Buffer {
  const bytes = Buffer.from(context, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([Buffer.of(version), length, bytes]);
}

function pad(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  return Buffer.concat([bytes, Buffer.alloc((fill - (bytes.length % fill)) % fill, " ")]);
}
