// ServerBundle: what a machine needs to become a server: the authorities of the cluster, and what all servers have in
// common. It is encrypted with a key that only the token contains, so that the cluster's objects do not reveal it.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { Random } from '../../base/random/random.ts'

export interface ServerBundle {
  /** By names below `pki/`. */
  readonly files: Readonly<Record<string, string>>
  /** Flags whose values must be the same on all servers. */
  readonly settings: Readonly<Record<string, string>>
  readonly store: BundledStore
}

export interface BundledStore {
  /** Members beside the servers, or an etcd that is run by others. */
  readonly kind: 'managed' | 'external'
  readonly endpoints: readonly string[]
}

export const serverKeyBytes = 32
const nonceBytes = 12
const tagBytes = 16
export const bundleFilesMax = 32

const additionalData = (tokenId: string): Uint8Array => new TextEncoder().encode(`coxswain server 1 ${tokenId}`)

/** The nonce, the encrypted text and its tag. */
export function sealBundle(bundle: ServerBundle, tokenId: string, key: Uint8Array, random: Random): Uint8Array {
  const nonce = random.bytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(additionalData(tokenId))
  return Uint8Array.from(
    Buffer.concat([nonce, cipher.update(JSON.stringify(bundle)), cipher.final(), cipher.getAuthTag()]),
  )
}

/** Throws when the key is not the one of the bundle, or the bundle was changed. */
export function openBundle(sealed: Uint8Array, tokenId: string, key: Uint8Array): ServerBundle {
  const parse = () => {
    const nonce = sealed.subarray(0, nonceBytes)
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(additionalData(tokenId))
    decipher.setAuthTag(sealed.subarray(-tagBytes))
    const text = Buffer.concat([decipher.update(sealed.subarray(nonceBytes, -tagBytes)), decipher.final()])
    return JSON.parse(text.toString()) as Partial<ServerBundle> | null
  }
  try {
    const { files, settings, store } = parse() ?? {}
    if (isTexts(files) && isTexts(settings) && isStore(store)) return { files, settings, store }
  } catch (cause) {
    throw new Error(`the key in the token ${tokenId} is wrong, or the authorities were changed`, { cause })
  }
  throw new Error(`the authorities for the token ${tokenId} are those of a newer coxswain; use that one`)
}

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length <= bundleFilesMax &&
  Object.values(value).every((each) => typeof each === 'string')

function isStore(value: unknown): value is BundledStore {
  const { kind, endpoints } = (value ?? {}) as Partial<BundledStore>
  return (
    (kind === 'managed' || kind === 'external') &&
    Array.isArray(endpoints) &&
    endpoints.length > 0 &&
    endpoints.every((each) => /^https?:\/\/[^/?#@\s]+$/.test(String(each)))
  )
}
