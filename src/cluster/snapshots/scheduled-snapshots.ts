// Takes snapshots of a cluster at an interval, and keeps the newest ones. The files are the only state: after a restart or on another
// server the next snapshot is due when the newest one of this cluster is old enough.
import { errorText, type Log } from '../../base/observability/log.ts'
import type { Counter, Gauge, Metrics } from '../../base/observability/metrics.ts'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { snapshotDirectory } from '../data-directory/take-snapshot.ts'
import type { SnapshotSchedule } from './snapshot-schedule.ts'
import { findSnapshots, removeLeftovers, removeOldSnapshots, snapshotName } from './snapshot-folder.ts'

/** A failed attempt is repeated after this time: a store that is busy or has no leader is back soon. */
const retryMs = 30_000
/** The folder is read again after this time at the latest. */
const sleepMsMax = 60 * 60_000

export interface SnapshotMetrics {
  readonly attempts: Counter
  readonly lastSuccess: Gauge
}

/** Called once in a process. */
export const snapshotMetrics = (metrics: Metrics): SnapshotMetrics => ({
  attempts: metrics.counter('coxswain_snapshots_total', 'Scheduled snapshots of the cluster, by their result.', [
    'result',
  ]),
  lastSuccess: metrics.gauge(
    'coxswain_snapshot_last_success_timestamp_seconds',
    'When this process took the last scheduled snapshot of the cluster that is complete.',
    [],
  ),
})

export interface SnapshotDeps {
  readonly clock: Clock
  readonly log: Log
  readonly metrics: SnapshotMetrics
  /** Writes a snapshot; tests use others. */
  readonly take?: typeof snapshotDirectory
}

/** Until the signal is aborted. `cluster` is the uid of the namespace kube-system. */
export async function takeSnapshots(
  schedule: SnapshotSchedule,
  cluster: string,
  deps: SnapshotDeps,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    const waitMs = await deps.clock.outside(takeDue(schedule, cluster, deps, signal))
    await deps.clock.sleep(Math.min(waitMs, sleepMsMax), signal)
  }
}

/** Takes a snapshot if one is due. Returns the time until the next one is. */
async function takeDue(
  schedule: SnapshotSchedule,
  cluster: string,
  deps: SnapshotDeps,
  signal: AbortSignal,
): Promise<number> {
  const { clock, log, metrics } = deps
  const { everyMs, folder } = schedule
  try {
    const nowMs = clock.nowMs()
    // Those of the future were taken while a clock was wrong.
    const newest = (await findSnapshots(folder, cluster)).find(({ atMs }) => atMs <= nowMs)
    const ageMs = newest === undefined ? everyMs : nowMs - newest.atMs
    if (ageMs < everyMs) return everyMs - ageMs
    await takeOne(schedule, cluster, deps, signal)
    return everyMs
  } catch (error) {
    signal.throwIfAborted()
    metrics.attempts.add({ result: 'failure' })
    log.error('a scheduled snapshot failed', { folder, error: errorText(error) })
    return retryMs
  }
}

async function takeOne(
  { dataDirectory, folder, keep, passphrase }: SnapshotSchedule,
  cluster: string,
  { clock, log, metrics, take = snapshotDirectory }: SnapshotDeps,
  signal: AbortSignal,
): Promise<void> {
  await nodePlatform.files.makeDirectory(folder)
  await removeLeftovers(folder)
  const to = `${folder}/${snapshotName(rfc3339(clock.nowMs()))}`
  const options = { directory: dataDirectory, to, passphrase, isForced: false, hasVolumes: false, cluster }
  const { keys } = await take(options, clock, signal)
  metrics.attempts.add({ result: 'success' })
  metrics.lastSuccess.set({}, clock.nowMs() / 1_000)
  const removed = await removeOldSnapshots(folder, cluster, keep)
  log.info('a snapshot of the cluster was taken', { path: to, keys, removed: removed.length })
}
