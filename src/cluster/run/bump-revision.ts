// bumpRevision: raises the revision of a new etcd with one member above that of a store that is moved to it. Writes do the same,
// but a million of them takes minutes. If it has no effect, the move writes.
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Clock } from '../../base/time/clock.ts'
import { copyingKey } from '../../store/copy-store.ts'
import { raiseNewestRevision } from '../../store/etcd/revision-file.ts'
import type { Store } from '../../store/store.ts'
import type { Files } from '../../platform/files.ts'
import { dataPath } from '../etcd/etcd-member.ts'

/** So few are written. */
export const writtenRevisionsMax = 20_000
/** etcd saves a snapshot of Raft after two writes, in the background. */
const writesMax = 40
const pollMs = 50

export interface BumpDeps {
  readonly files: Files
  readonly clock: Clock
  readonly log: Log
}

/** What is written while the member runs, with `snapshotCount: 1`; the revision of the newest write. Undefined: no bump is needed. */
export async function prepareBump(
  store: Store,
  etcdDirectory: string,
  wanted: number,
  { files, clock, log }: BumpDeps,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { items } = await store.range({ start: '', end: '', limit: 2 }, signal)
  const isNew = items.every(({ key }) => key === copyingKey)
  if (!isNew || wanted - (await store.freshRevision(signal)) <= writtenRevisionsMax) return undefined
  for (let writes = 0; writes < writesMax; writes++) {
    const operations = [{ kind: 'put' as const, key: copyingKey, value: new Uint8Array() }]
    const { revision } = await store.commit({ conditions: [], operations }, signal)
    // Members that join get the file from then on. From an older log they would get revisions of their own.
    if (writes > 0 && (await hasRaftSnapshot(etcdDirectory, files))) return revision
    await clock.sleep(pollMs, signal)
  }
  log.info('etcd saves no snapshot of Raft; its revision is raised with writes')
  return undefined
}

const snapshotsPath = (etcdDirectory: string): string => `${dataPath(etcdDirectory)}/member/snap`

const hasRaftSnapshot = async (etcdDirectory: string, files: Files): Promise<boolean> =>
  (await files.list(snapshotsPath(etcdDirectory))).some((name) => name.endsWith('.snap'))

/** After the member has stopped. */
export async function bumpRevision(etcdDirectory: string, newest: number, wanted: number, log: Log): Promise<void> {
  const isRaised = await raiseNewestRevision(`${snapshotsPath(etcdDirectory)}/db`, newest, wanted).catch(errorText)
  if (isRaised !== true) log.info('the revision of etcd is raised with writes', { error: isRaised })
}
