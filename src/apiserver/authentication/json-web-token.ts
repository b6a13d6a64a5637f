// JSON Web Tokens in their compact form: reading, writing and checking the signature. What claims mean is not known here.
import { isJsonObject } from '../../schema/json/json-value.ts'
import {
  signatureAlgorithms,
  type CryptoProvider,
  type KeyPair,
  type PublicKey,
  type SignatureAlgorithm,
} from '../../platform/crypto/crypto.ts'

export type Claims = Readonly<Record<string, unknown>>

export interface ParsedToken {
  readonly algorithm: SignatureAlgorithm
  readonly keyId: string
  readonly claims: Claims
  readonly signed: Uint8Array
  readonly signature: Uint8Array
}

/** A longer text is no token of anybody's. */
const tokenCharactersMax = 32_768

const base64url = { alphabet: 'base64url', omitPadding: true } as const
const encoder = new TextEncoder()

/** Undefined when the text is no token, or signed in a way that is not known. */
export function parseToken(text: string): ParsedToken | undefined {
  const parts = text.length > tokenCharactersMax ? [] : text.split('.')
  const [header = '', payload = '', signature = ''] = parts
  if (parts.length !== 3) return undefined
  try {
    const { alg, kid = '', crit = [], b64 = true } = decoded(header)
    const algorithm = signatureAlgorithms.find((known) => known === alg)
    if (algorithm === undefined || typeof kid !== 'string' || !isUnderstood(crit, b64)) return undefined
    return {
      algorithm,
      keyId: kid,
      claims: decoded(payload),
      signed: encoder.encode(`${header}.${payload}`),
      signature: bytesOf(signature),
    }
  } catch {
    return undefined
  }
}

/** RFC 7515: a token whose `crit` names an extension that is not understood is invalid. Only `b64: true` is. */
const isUnderstood = (crit: unknown, b64: unknown): boolean =>
  Array.isArray(crit) && crit.every((name) => name === 'b64') && b64 === true

/** How a key is named in the tokens that it signs. */
export const keyIdOf = (publicKey: Uint8Array, crypto: CryptoProvider): string =>
  crypto.sha256(publicKey).toBase64(base64url)

export function signToken(claims: Claims, keyId: string, key: KeyPair): string {
  const signed = `${encoded({ alg: key.kind === 'EC' ? 'ES256' : 'RS256', kid: keyId })}.${encoded(claims)}`
  return `${signed}.${key.signJws(encoder.encode(signed)).toBase64(base64url)}`
}

/** Whether one of the keys made the signature. */
export const isSignedBy = ({ algorithm, signed, signature }: ParsedToken, keys: Iterable<PublicKey>): boolean => {
  for (const key of keys) if (key.verify(algorithm, signed, signature)) return true
  return false
}

/** The audiences that a token names: one as text, or several. */
export function audiencesOf({ aud }: Claims): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) ? aud.filter((each) => typeof each === 'string') : []
}

const encoded = (value: object): string => encoder.encode(JSON.stringify(value)).toBase64(base64url)

function decoded(text: string): Claims {
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytesOf(text)))
  if (!isJsonObject(value)) throw new Error('not an object')
  return value
}

/** Strict: `fromBase64` alone would skip white space and accept padding, so that one token had many spellings. */
function bytesOf(text: string): Uint8Array {
  if (!/^[\w-]*$/.test(text)) throw new Error('not base64url')
  return Uint8Array.fromBase64(text, { alphabet: 'base64url' })
}
