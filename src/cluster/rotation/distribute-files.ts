// distributeFiles: replaces files of all servers, and waits until each one uses them.
import { context } from '../../base/observability/context.ts'
import type { Random } from '../../base/random/random.ts'
import type { Clock } from '../../base/time/clock.ts'
import { lookup } from '../../base/collections/lookup.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Lease } from '../../api/coordination/v1/lease.ts'
import type { Client } from '../../client/client.ts'
import { machineOf, serverLeases } from '../bootstrap/server-identity.ts'
import { usedVersionAnnotation } from './follow-shared-files.ts'
import {
  findSharedFiles,
  openSharedFiles,
  publishSharedFiles,
  type FileContents,
  type SealDeps,
} from './shared-files.ts'

const checkEveryMs = 250
/** A server takes a moment. After this time it is asked for. */
const confirmMsMax = 60_000

export interface DistributeDeps extends SealDeps {
  readonly client: Client
  readonly clock: Clock
  readonly random: Random
  /** The private key of the CA that the files bring, if they do: servers then need it to open them. */
  readonly nextAuthorityKey?: string
}

/**
 * Replaces what `change` returns for the files that were distributed last. They stay part of the published ones, for servers that are not
 * running. Nothing is replaced before all servers use what was distributed last: they might not be able to open what follows.
 */
export async function distributeFiles(
  change: (last: FileContents) => FileContents,
  deps: DistributeDeps,
  signal: AbortSignal,
): Promise<void> {
  const called = context(signal)
  const before = await findSharedFiles(deps.client, called)
  const last = before && openSharedFiles(before, deps)
  if (last !== undefined) await untilUsed(last.version, deps, signal)
  const { files = {} } = last ?? {}
  const all = { ...files, ...change(files) }
  const version = await publishSharedFiles(deps.client, before, all, publishDeps(deps), called).catch(
    (error: unknown) => {
      const isRace = hasReason(error, 'Conflict') || hasReason(error, 'AlreadyExists')
      throw isRace ? new Error('keys are being rotated by another process; try again', { cause: error }) : error
    },
  )
  await untilUsed(version, deps, signal)
}

const publishDeps = ({ authorityKey, nextAuthorityKey, ...deps }: DistributeDeps) => ({
  ...deps,
  authorityKeys: [authorityKey, ...(nextAuthorityKey === undefined ? [] : [nextAuthorityKey])],
})

/** The servers, once one of them has written its Lease: after its start that takes a moment. */
export async function runningServers(
  { client, clock }: Pick<DistributeDeps, 'client' | 'clock'>,
  signal: AbortSignal,
): Promise<readonly Lease[]> {
  const untilMs = clock.monotonicMs() + confirmMsMax
  for (;;) {
    const servers = await serverLeases(client, context(signal))
    if (servers.length > 0) return servers
    if (clock.monotonicMs() > untilMs) throw new Error(missingText([]))
    await clock.sleep(checkEveryMs, signal)
  }
}

/** Waits until all servers use a version of the files. */
export async function untilUsed(
  version: number,
  { client, clock }: Pick<DistributeDeps, 'client' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const untilMs = clock.monotonicMs() + confirmMsMax
  for (;;) {
    const servers = await serverLeases(client, context(signal))
    const missing = servers.filter((each) => usedVersion(each) < version)
    if (servers.length > 0 && missing.length === 0) return
    if (clock.monotonicMs() > untilMs) throw new Error(missingText(missing))
    await clock.sleep(checkEveryMs, signal)
  }
}

const usedVersion = ({ metadata }: Lease): number => Number(lookup(metadata.annotations, usedVersionAnnotation) ?? '')

function missingText(missing: readonly Lease[]): string {
  if (missing.length === 0) return 'no API server has confirmed the new keys; is this the cluster of a newer coxswain?'
  const names = missing.map((each) => `${each.metadata.name} on ${machineOf(each)} (last seen ${each.spec.renewTime})`)
  const [{ metadata: { name } } = { metadata: { name: '' } }] = missing
  return `${names.join(', ')} ${missing.length === 1 ? 'has' : 'have'} not confirmed the new keys. Start the server and repeat the command; if it is gone for good: kubectl -n kube-system delete lease ${name}`
}
