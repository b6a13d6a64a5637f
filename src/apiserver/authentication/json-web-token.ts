// JSON Web Tokens in compact form: parses and writes them and verifies signatures. It does not interpret claims.
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

/** Longer tokens are rejected. */
const tokenCharactersMax = 32_768

const base64url = { alphabet: 'base64url', omitPadding: true } as const
const encoder = new TextEncoder()

/** Undefined if the text is not a token or its algorithm is not supported. */
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

/** RFC 7515: a token with an unsupported critical extension is invalid. Only `b64: true` is supported. */
const isUnderstood = (crit: unknown, b64: unknown): boolean =>
  Array.isArray(crit) && crit.every((name) => name === 'b64') && b64 === true

/** The key id in tokens that the key signs. */
export const keyIdOf = (publicKey: Uint8Array, crypto: CryptoProvider): string =>
  crypto.sha256(publicKey).toBase64(base64url)

export function signToken(claims: Claims, keyId: string, key: KeyPair): string {
  const signed = `${encoded({ alg: key.kind === 'EC' ? 'ES256' : 'RS256', kid: keyId })}.${encoded(claims)}`
  return `${signed}.${key.signJws(encoder.encode(signed)).toBase64(base64url)}`
}

/** Whether one of the keys created the signature. */
export const isSignedBy = ({ algorithm, signed, signature }: ParsedToken, keys: Iterable<PublicKey>): boolean => {
  for (const key of keys) if (key.verify(algorithm, signed, signature)) return true
  return false
}

/** The audiences of a token: a string or a list of strings. */
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

/** `fromBase64` alone would accept white space and padding, so that one token would have many forms. */
function bytesOf(text: string): Uint8Array {
  if (!/^[\w-]*$/.test(text)) throw new Error('not base64url')
  return Uint8Array.fromBase64(text, { alphabet: 'base64url' })
}
