// A server uses the files that are published for all servers: it stores them, and replaces its keys while it runs.
import { systemRandom } from '../../base/random/random.ts'
import type { Log } from '../../base/observability/log.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { realClock } from '../../base/time/clock.ts'
import type { AccountKeys } from '../../apiserver/authentication/account-keys.ts'
import type { Client } from '../../client/client.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { ServerIdentity } from '../bootstrap/server-identity.ts'
import { accountKeysIn } from '../certificates/account-key-file.ts'
import { readServerFile, replaceServerFiles } from '../data-directory/server-files.ts'
import { followSharedFiles } from '../rotation/follow-shared-files.ts'
import { authorityFiles } from '../rotation/rotate-authorities.ts'
import { accountKeyFile } from '../rotation/rotate-account-key.ts'
import type { FileContents } from '../rotation/shared-files.ts'

export interface SharedFilesUse {
  readonly client: Client
  readonly identity: ServerIdentity
  readonly directory: string
  readonly accountKeys: AccountKeys
  /** Reads the authorities again and uses them. */
  readonly useAuthorities: () => Promise<void>
  readonly log: Log
}

/** Runs until the signal is aborted. */
export async function useSharedFiles(
  { client, identity, directory, accountKeys, useAuthorities, log }: SharedFilesUse,
  signal: AbortSignal,
): Promise<void> {
  const { crypto } = nodePlatform
  let usedAuthorities = await authorityTexts(directory)
  const use = async (files: FileContents) => {
    const keys = lookup(files, accountKeyFile)
    const loaded = keys === undefined ? undefined : accountKeysIn(keys, crypto)
    await replaceServerFiles(directory, files)
    if (loaded !== undefined) accountKeys.replace(loaded)
    const authorities = await authorityTexts(directory)
    if (authorities === usedAuthorities) return
    await useAuthorities()
    usedAuthorities = authorities
  }
  const authorityKey = () => readServerFile(directory, 'ca.key')
  const deps = { client, identity, log, crypto, clock: realClock, random: systemRandom, authorityKey, use }
  await followSharedFiles(deps, signal)
}

const authorityTexts = async (directory: string): Promise<string> =>
  (await Promise.all(authorityFiles.map((name) => readServerFile(directory, name)))).join('\n')
