// followSharedFiles: a server takes over the files that are published for all servers, and confirms each version once it is in use.
import { context } from '../../base/observability/context.ts'
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import { unlessAborted } from '../../base/async/unless-aborted.ts'
import type { Clock } from '../../base/time/clock.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import type { Client } from '../../client/client.ts'
import { Informer } from '../../client/informer/informer.ts'
import type { CryptoProvider } from '../../platform/crypto/crypto.ts'
import type { ServerIdentity } from '../bootstrap/server-identity.ts'
import {
  openSharedFiles,
  SharedFilesError,
  sharedFilesName,
  sharedFilesNamespace,
  type FileContents,
} from './shared-files.ts'

/** Which version of the files a server uses, in the Lease that shows its identity. */
export const usedVersionAnnotation = 'coxswain.dev/server-files'

const retryMs = 10_000

export interface FollowDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly crypto: CryptoProvider
  readonly identity: Pick<ServerIdentity, 'annotate'>
  /** Reads the private key of the cluster's CA. */
  readonly authorityKey: () => Promise<string>
  /** Stores the files and uses them. Called again with the same ones after a failure. */
  readonly use: (files: FileContents, published: Secret, signal: AbortSignal) => Promise<void>
}

/** Runs until the signal is aborted. */
export async function followSharedFiles(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const { client, clock, log } = deps
  let changed = Promise.withResolvers<void>()
  let latest: Secret | undefined
  const only = { namespace: sharedFilesNamespace, fieldSelector: `metadata.name=${sharedFilesName}` }
  const informer = new Informer(secret, client.of(secret), deps, only)
  informer.onChange(({ now }) => {
    latest = now
    changed.resolve()
  })
  const running = informer.run(signal)
  while (!signal.aborted) {
    await unlessAborted(changed.promise, signal)
    changed = Promise.withResolvers()
    try {
      if (latest !== undefined) await takeOver(latest, deps, signal)
    } catch (error) {
      log.error('the files of servers were not taken over', { error: errorText(error) })
      // Another attempt opens what cannot be opened no better.
      if (error instanceof SharedFilesError) continue
      await clock.sleep(retryMs, signal)
      changed.resolve()
    }
  }
  await running
}

async function takeOver(
  published: Secret,
  { crypto, authorityKey, use, identity, log }: FollowDeps,
  signal: AbortSignal,
): Promise<void> {
  const { version, files } = openSharedFiles(published, { crypto, authorityKey: await authorityKey() })
  await use(files, published, signal)
  await identity.annotate({ [usedVersionAnnotation]: String(version) }, context(signal))
  log.info('the files that all servers have in common were taken over', { version })
}
