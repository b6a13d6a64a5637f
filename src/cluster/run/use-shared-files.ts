// A server uses the files that are published for all servers: it stores them, and replaces its keys while it runs. Keys of the encryption
// at rest are also taken from a copy when it starts.
import { systemRandom } from '../../base/random/random.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { realClock } from '../../base/time/clock.ts'
import type { Secret } from '../../api/core/v1/secret.ts'
import type { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import type { Client } from '../../client/client.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { ServerIdentity } from '../bootstrap/server-identity.ts'
import { accountKeysIn } from '../certificates/account-key-file.ts'
import { readServerFile, replaceServerFiles } from '../data-directory/server-files.ts'
import { encryptionConfigFile } from '../policy/encryption-at-rest.ts'
import { findFilesCopy, keepFilesCopy } from '../rotation/files-copy.ts'
import { followSharedFiles } from '../rotation/follow-shared-files.ts'
import { authorityFiles } from '../rotation/rotate-authorities.ts'
import { accountKeyFile } from '../rotation/rotate-account-key.ts'
import { openSharedFiles, SharedFilesError, type FileContents } from '../rotation/shared-files.ts'
import type { Store } from '../../store/store.ts'

export interface SharedFilesUse {
  readonly client: Client
  readonly identity: ServerIdentity
  readonly directory: string
  readonly accountKeys: AccountKeys
  /** Reads the authorities again and uses them. */
  readonly useAuthorities: () => Promise<void>
  /** Reads the encryption configuration again and uses it. */
  readonly useEncryption: (signal: AbortSignal) => Promise<void>
  /** Objects in it are encrypted. */
  readonly plainStore: Store
  readonly log: Log
}

/** Runs until the signal is aborted. */
export async function useSharedFiles(
  { client, identity, directory, accountKeys, useAuthorities, useEncryption, plainStore, log }: SharedFilesUse,
  signal: AbortSignal,
): Promise<void> {
  const { crypto } = nodePlatform
  let usedAuthorities = await authorityTexts(directory)
  const use = async (files: FileContents, published: Secret, stop: AbortSignal) => {
    const keys = lookup(files, accountKeyFile)
    const loaded = keys === undefined ? undefined : accountKeysIn(keys, crypto)
    await keepFilesCopy(plainStore, published, stop)
    await replaceServerFiles(directory, files)
    if (loaded !== undefined) accountKeys.replace(loaded)
    if (lookup(files, encryptionConfigFile) !== undefined) await useEncryption(stop)
    const authorities = await authorityTexts(directory)
    if (authorities === usedAuthorities) return
    await useAuthorities()
    usedAuthorities = authorities
  }
  const authorityKey = () => readServerFile(directory, 'ca.key')
  const deps = { client, identity, log, crypto, clock: realClock, random: systemRandom, authorityKey, use }
  await followSharedFiles(deps, signal)
}

/** Takes the encryption configuration of all servers from the copy of their files. Returns whether there is one. */
export async function useFilesCopy(directory: string, plainStore: Store, log: Log): Promise<boolean> {
  const copy = await findFilesCopy(plainStore, never)
  if (copy === undefined) return false
  try {
    const authorityKey = await readServerFile(directory, 'ca.key')
    const config = lookup(
      openSharedFiles(copy, { crypto: nodePlatform.crypto, authorityKey }).files,
      encryptionConfigFile,
    )
    if (config === undefined) return false
    await replaceServerFiles(directory, { [encryptionConfigFile]: config })
    return true
  } catch (error) {
    if (!(error instanceof SharedFilesError)) throw error
    log.warn('the copy of the files that all servers have in common was not used', { error: errorText(error) })
    return false
  }
}

const { signal: never } = new AbortController()

const authorityTexts = async (directory: string): Promise<string> =>
  (await Promise.all(authorityFiles.map((name) => readServerFile(directory, name)))).join('\n')
