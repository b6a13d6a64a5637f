// Real disk failures: a disk that fills up, and system calls that return errors. Every acknowledged write is present
// afterwards, every other writer gets an error, and the file is intact.
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { realClock } from '../../src/base/time/clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

const { signal } = new AbortController()
const writes = 400
const programAt = (name: string) => fileURLToPath(new URL(name, import.meta.url))

// The disk is a small file system in memory in its own mount namespace, which ends with the process.
test('a disk that fills up: nothing acknowledged is lost, the file is intact, writes continue when there is space', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coxswain-full-'))
  const script = 'mount -t tmpfs -o size=12m none "$0" && exec "$@"'
  const child = [
    '--map-root-user',
    '--mount',
    'sh',
    '-c',
    script,
    directory,
    process.execPath,
    programAt('./full-disk.ts'),
    directory,
  ]
  const { stdout } = await promisify(execFile)('unshare', child)
  match(stdout, /^Store(Full|Broken) after \d+ writes\n$/)
  rmSync(directory, { recursive: true })
})

type Injection = readonly [name: string, inject: string, error: RegExp]
const injections: readonly Injection[] = [
  ['the log cannot be synced', 'fsync,fdatasync:error=EIO:when=30+', /^StoreBroken$/],
  ['the log can once not be synced', 'fsync,fdatasync:error=EIO:when=30', /^StoreBroken$/],
  ['the disk takes no more bytes', 'pwrite64:error=ENOSPC:when=60+', /^StoreFull$/],
  ['the disk fails while it is written', 'pwrite64:error=EIO:when=60+', /^Store(Broken|Full)$/],
]
for (const [name, inject, error] of injections)
  test(`${name}: writers get an error, and every acknowledged write is present afterwards`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coxswain-eio-'))
    const path = join(directory, 'store.db')
    const trace = [
      '-f',
      '-qq',
      '-o',
      join(directory, 'trace'),
      '-e',
      'trace=fsync,fdatasync,pwrite64',
      '-e',
      `inject=${inject}`,
    ]
    const child = [process.execPath, programAt('./acknowledging-writer.ts'), path, String(writes)]
    const { stdout, stderr, status } = spawnSync('strace', [...trace, ...child], { encoding: 'utf8' })
    equal(status, 0, stderr)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
    const acknowledged = lines.filter(([word]) => word === 'ack').map(([, number]) => `/k/${number}`)
    const failed = lines.filter(([word]) => word === 'fail')
    ok(acknowledged.length > 0 && acknowledged.length < writes, `${acknowledged.length} of ${writes} were acknowledged`)
    for (const [, , thrown = ''] of failed) match(thrown, error)
    ok(failed.length > 0)

    const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
    const { items } = await store.range({ start: '', end: '' }, signal)
    const keys = new Set(items.map(({ key }) => key))
    deepEqual(
      acknowledged.filter((key) => !keys.has(key)),
      [],
    )
    await store.close()
    rmSync(directory, { recursive: true })
  })
