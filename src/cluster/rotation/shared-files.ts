// SharedFiles: the files below `pki/` that all servers of a cluster have in common, as a Secret with which they are replaced while the
// servers run. Each version has a number. The content is encrypted with a key of its own, and this one with keys that are derived from
// those of CAs, which only servers have: while the CA is replaced, with that of the earlier and that of the next one.
import type { Context } from '../../base/observability/context.ts'
import type { Random } from '../../base/random/random.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import type { Client } from '../../client/client.ts'
import { base64Text } from '../../pki/pem.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'

export const sharedFilesName = 'coxswain-server-files'
export const sharedFilesNamespace = 'kube-system'
const secretType = 'coxswain.dev/server-files'
const contentKey = 'content'
const versionKey = 'version'
const nonceBytes = 12
const keyBytes = 32
const nameBytes = 8
const contentBytesMax = 256 * 1024

/** By names below `pki/`. */
export type FileContents = Readonly<Record<string, string>>

export interface SharedFiles {
  readonly version: number
  readonly files: FileContents
}

/** The published files are damaged, or those of another cluster or program. */
export class SharedFilesError extends Error {
  override name = 'SharedFilesError'
}

export interface SealDeps {
  readonly crypto: CryptoProvider
  /** The private key of the cluster's CA, as PEM. */
  readonly authorityKey: string
}

/** Throws if the Secret is damaged, or of a cluster with another CA. */
export function openSharedFiles({ data }: Pick<Secret, 'data'>, { crypto, authorityKey }: SealDeps): SharedFiles {
  const version = versionIn(data)
  try {
    const outer = keyOf(authorityKey, crypto)
    const inner = open(lookup(data, wrappedKeyName(outer, crypto)), outer, version, crypto)
    const files: unknown = JSON.parse(new TextDecoder().decode(open(lookup(data, contentKey), inner, version, crypto)))
    if (isContents(files)) return { version, files }
  } catch (cause) {
    throw new SharedFilesError(
      `the Secret ${sharedFilesNamespace}/${sharedFilesName} cannot be opened with the key of this cluster's CA; if the cluster was restored without its keys: kubectl -n ${sharedFilesNamespace} delete secret ${sharedFilesName}`,
      { cause },
    )
  }
  throw new SharedFilesError(`the Secret ${sharedFilesNamespace}/${sharedFilesName} is that of a newer coxswain`)
}

/** 0 without a Secret. */
function versionIn(data: Secret['data'] | undefined): number {
  const version = Number(atob(lookup(data, versionKey) ?? ''))
  return Number.isSafeInteger(version) ? version : 0
}

export const findSharedFiles = (client: Client, context: Context): Promise<Secret | undefined> =>
  client.of(secret).find(sharedFilesName, sharedFilesNamespace, context)

export interface PublishDeps {
  readonly crypto: CryptoProvider
  readonly random: Random
  /** The private keys of CAs, as PEM: a server needs one of them. */
  readonly authorityKeys: readonly string[]
}

/** Publishes the next version of the files, and returns its number. Fails with a conflict if another one was published meanwhile. */
export async function publishSharedFiles(
  client: Client,
  before: Secret | undefined,
  files: FileContents,
  { crypto, random, authorityKeys }: PublishDeps,
  context: Context,
): Promise<number> {
  const version = versionIn(before?.data) + 1
  const text = JSON.stringify(files)
  if (text.length > contentBytesMax) throw new Error(`the files of servers have more than ${contentBytesMax} bytes`)
  const sealed = (content: Uint8Array, key: Uint8Array) => seal(content, key, version, { crypto, random })
  const inner = random.bytes(keyBytes)
  const wrapped = authorityKeys.map((authorityKey) => {
    const outer = keyOf(authorityKey, crypto)
    return [wrappedKeyName(outer, crypto), sealed(inner, outer)] as const
  })
  const data = {
    [versionKey]: base64Text(String(version)),
    [contentKey]: sealed(new TextEncoder().encode(text), inner),
    ...Object.fromEntries(wrapped),
  }
  const metadata = { name: sharedFilesName, namespace: sharedFilesNamespace }
  if (before === undefined)
    await client.of(secret).create({ metadata, type: secretType, data }, sharedFilesNamespace, context)
  else await client.of(secret).update({ ...before, data }, context)
  return version
}

const keyOf = (authorityKey: string, crypto: CryptoProvider): Uint8Array =>
  crypto.hmacSha256(new TextEncoder().encode(authorityKey.trim()), 'coxswain server files 1')

/** It reveals nothing of the key. */
const wrappedKeyName = (key: Uint8Array, crypto: CryptoProvider): string =>
  `key-${crypto.sha256(key).subarray(0, nameBytes).toHex()}`

function seal(
  content: Uint8Array,
  key: Uint8Array,
  version: number,
  { crypto, random }: Pick<PublishDeps, 'crypto' | 'random'>,
): string {
  const nonce = random.bytes(nonceBytes)
  return Uint8Array.from([...nonce, ...crypto.seal('aesgcm', key, nonce, content, additionalData(version))]).toBase64()
}

function open(sealed: string | undefined, key: Uint8Array, version: number, crypto: CryptoProvider): Uint8Array {
  const bytes = Uint8Array.fromBase64(sealed ?? '')
  const nonce = bytes.subarray(0, nonceBytes)
  return crypto.open('aesgcm', key, nonce, bytes.subarray(nonceBytes), additionalData(version))
}

const additionalData = (version: number): Uint8Array => new TextEncoder().encode(`coxswain server files ${version}`)

const isContents = (value: unknown): value is FileContents =>
  typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string')
