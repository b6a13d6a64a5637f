// Scheduled snapshots in virtual time, with files that are as small as those of an empty cluster.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { createLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { rfc3339, type Clock } from '../../base/time/clock.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { writeSnapshotFile } from '../data-directory/snapshot-file.ts'
import type { SnapshotOptions } from '../data-directory/take-snapshot.ts'
import { snapshotMetrics, takeSnapshots } from './scheduled-snapshots.ts'
import { findSnapshots } from './snapshot-folder.ts'

const home = await mkdtemp(join(tmpdir(), 'coxswain-scheduled-'))
after(() => rm(home, { recursive: true, force: true }))

async function write({ to, cluster }: Pick<SnapshotOptions, 'to' | 'cluster'>, clock: Clock) {
  const header = { createdAt: rfc3339(clock.nowMs()), name: 'home', keys: 'omitted', nodes: [], cluster } as const
  const read = async function* () {
    yield new Uint8Array([1, 2, 3])
  }
  await writeSnapshotFile(to, header, [{ name: 'store.db', bytes: 3, read }], undefined)
  return header
}

async function scheduler({ keep = 3, folder = '' } = {}) {
  const chosen = folder || join(await mkdtemp(join(home, 'f-')), 'snapshots')
  const clock = new VirtualClock()
  const registry = new Metrics()
  const metrics = snapshotMetrics(registry)
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'text', level: 'info' })
  const fault = { error: undefined as Error | undefined }
  const take = async (options: SnapshotOptions) => {
    if (fault.error !== undefined) throw fault.error
    return write(options, clock)
  }
  const schedule = { dataDirectory: home, folder: chosen, everyMs: 12 * 3_600_000, keep, passphrase: undefined }
  const start = (cluster = 'uid-1') => {
    const tasks = new TaskGroup({ onFailure: (_, error) => lines.push(String(error)) })
    tasks.start('snapshots', (signal) => takeSnapshots(schedule, cluster, { clock, log, metrics, take }, signal))
    return tasks
  }
  const times = async (cluster?: string) => (await findSnapshots(chosen, cluster)).map(({ atMs }) => rfc3339(atMs))
  const series = (name: string) =>
    registry
      .text()
      .split('\n')
      .filter((line) => line.startsWith(name))
  return { clock, folder: chosen, start, times, series, lines, fault }
}

test('a snapshot is taken at once and at each interval; the newest ones are kept', async () => {
  const { clock, start, times, folder, series, lines } = await scheduler()
  await using _ = start()
  await clock.advance('1s')
  deepEqual(await times(), ['2030-01-01T00:00:00Z'])
  await clock.advance('48h')
  deepEqual(await times(), ['2030-01-03T00:00:00Z', '2030-01-02T12:00:00Z', '2030-01-02T00:00:00Z'])
  deepEqual(await readdir(folder), [
    'coxswain-2030-01-02T00-00-00Z.snapshot',
    'coxswain-2030-01-02T12-00-00Z.snapshot',
    'coxswain-2030-01-03T00-00-00Z.snapshot',
  ])
  equal((await stat(folder)).mode & 0o077, 0)
  deepEqual(series('coxswain_snapshot'), [
    `coxswain_snapshot_last_success_timestamp_seconds ${Date.parse('2030-01-03T00:00:00Z') / 1000}`,
    'coxswain_snapshots_total{result="success"} 5',
  ])
  match(lines.at(-1) ?? '', /a snapshot of the cluster was taken.*removed=1/)
})

test('another process, or the next start, continues the schedule of the files', async () => {
  const { clock, start, times } = await scheduler()
  {
    await using _ = start()
    await clock.advance('1h')
  }
  await using _ = start()
  await clock.advance('10h')
  equal((await times()).length, 1)
  await clock.advance('2h')
  deepEqual((await times())[0], '2030-01-01T12:00:00Z')
})

test('only complete snapshots of this cluster count, and only those are removed', async () => {
  const { clock, folder, start, times } = await scheduler({ keep: 1 })
  await mkdir(folder, { recursive: true })
  const at = (name: string) => join(folder, name)
  const past = new VirtualClock(Date.parse('2029-12-01T00:00:00Z'))
  await write({ to: at('coxswain-2029-12-01T00-00-00Z.snapshot'), cluster: 'uid-1' }, past)
  // Newer than everything that is kept, but none of these counts.
  await write({ to: at('coxswain-2029-12-31T00-00-01Z.snapshot'), cluster: 'uid-2' }, clock)
  await write({ to: at('coxswain-2029-12-31T00-00-02Z.snapshot'), cluster: 'uid-1' }, clock)
  await truncate(at('coxswain-2029-12-31T00-00-02Z.snapshot'), 300)
  await write({ to: at('coxswain-2029-12-31T00-00-03Z.snapshot'), cluster: undefined }, clock)
  await write({ to: at('mine'), cluster: 'uid-1' }, clock)
  await writeFile(at('coxswain-2029-12-31T00-00-04Z.snapshot'), 'something else')
  await symlink(at('mine'), at('coxswain-2029-12-31T00-00-05Z.snapshot'))
  await writeFile(at('coxswain-2029-12-31T00-00-06Z.snapshot.77.tmp'), 'left by an attempt that was killed')
  const before = await readdir(folder)
  await using _ = start()
  await clock.advance('1s')
  deepEqual(await times('uid-1'), ['2030-01-01T00:00:00Z'])
  const removed = ['coxswain-2029-12-01T00-00-00Z.snapshot', 'coxswain-2029-12-31T00-00-06Z.snapshot.77.tmp']
  const added = 'coxswain-2030-01-01T00-00-00Z.snapshot'
  deepEqual(await readdir(folder), [...before.filter((name) => !removed.includes(name)), added].toSorted())
})

test('a failure is logged and counted, removes nothing, and is repeated', async () => {
  const { clock, start, times, series, lines, fault } = await scheduler({ keep: 1 })
  await using _ = start()
  await clock.advance('1s')
  fault.error = new Error('the disk is full')
  await clock.advance('12h')
  deepEqual(await times(), ['2030-01-01T00:00:00Z'])
  deepEqual(series('coxswain_snapshots_total').toSorted(), [
    'coxswain_snapshots_total{result="failure"} 1',
    'coxswain_snapshots_total{result="success"} 1',
  ])
  match(lines.at(-1) ?? '', /a scheduled snapshot failed.*the disk is full/)
  await clock.advance('10m')
  fault.error = undefined
  await clock.advance('5m')
  deepEqual(await times(), ['2030-01-01T12:10:30Z'])
})

test('a folder that cannot be read is a failure, and a snapshot of the future delays nothing', async () => {
  const file = join(home, 'file')
  await writeFile(file, '')
  const wrong = await scheduler({ folder: file })
  {
    await using _ = wrong.start()
    await wrong.clock.advance('1s')
  }
  match(wrong.lines[0] ?? '', /a scheduled snapshot failed.*ENOTDIR/)
  const { clock, folder, start, times } = await scheduler()
  await mkdir(folder)
  const future = new VirtualClock(Date.parse('2040-01-01T00:00:00Z'))
  await write({ to: join(folder, 'coxswain-2040-01-01T00-00-00Z.snapshot'), cluster: 'uid-1' }, future)
  await using _ = start()
  await clock.advance('13h')
  deepEqual(await times(), ['2040-01-01T00:00:00Z', '2030-01-01T12:00:00Z', '2030-01-01T00:00:00Z'])
})
