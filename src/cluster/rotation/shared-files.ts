// SharedFiles: the files below `pki/` that all servers of a cluster have in common, as a Secret with which they are replaced while the
// servers run. Each version has a number. The content is encrypted with a key that is derived from that of the cluster's CA, which only
// servers have.
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
  const sealed = Uint8Array.fromBase64(lookup(data, contentKey) ?? '')
  try {
    const key = keyOf(authorityKey, crypto)
    const nonce = sealed.subarray(0, nonceBytes)
    const text = new TextDecoder().decode(
      crypto.open('aesgcm', key, nonce, sealed.subarray(nonceBytes), additionalData(version)),
    )
    const files: unknown = JSON.parse(text)
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

/** Publishes the next version of the files, and returns its number. Fails with a conflict if another one was published meanwhile. */
export async function publishSharedFiles(
  client: Client,
  before: Secret | undefined,
  files: FileContents,
  { random, ...deps }: SealDeps & { readonly random: Random },
  context: Context,
): Promise<number> {
  const version = versionIn(before?.data) + 1
  const text = JSON.stringify(files)
  if (text.length > contentBytesMax) throw new Error(`the files of servers have more than ${contentBytesMax} bytes`)
  const nonce = random.bytes(nonceBytes)
  const key = keyOf(deps.authorityKey, deps.crypto)
  const sealed = deps.crypto.seal('aesgcm', key, nonce, new TextEncoder().encode(text), additionalData(version))
  const content = Uint8Array.from([...nonce, ...sealed]).toBase64()
  const data = { [versionKey]: base64Text(String(version)), [contentKey]: content }
  const metadata = { name: sharedFilesName, namespace: sharedFilesNamespace }
  if (before === undefined)
    await client.of(secret).create({ metadata, type: secretType, data }, sharedFilesNamespace, context)
  else await client.of(secret).update({ ...before, data }, context)
  return version
}

const keyOf = (authorityKey: string, crypto: CryptoProvider): Uint8Array =>
  crypto.hmacSha256(new TextEncoder().encode(authorityKey.trim()), 'coxswain server files 1')

const additionalData = (version: number): Uint8Array => new TextEncoder().encode(`coxswain server files ${version}`)

const isContents = (value: unknown): value is FileContents =>
  typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string')
