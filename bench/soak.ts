// A soak: namespaces with objects of many kinds are created and deleted in a loop, so that about the same number of objects
// is alive all the time, and the memory of `coxswain up` must level off. One row for each minute:
//
//   npm run bench -- soak [--minutes 60] [--rounds-per-minute 30] [--snapshot <file>]
//
// The heap after a collection is read every ten minutes. A heap snapshot is written at the end only: it takes several times
// the memory of the heap, and resident memory does not become as small as before.
import { statSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { realClock } from '../src/base/time/clock.ts'
import { accessOf, type Access } from '../test/access.ts'
import { newFolder, startProcess } from '../test/process.ts'
import { memoryMb, processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import { Client } from './flood/client.ts'
import { Inspector, inspectorUrl } from './soak/inspector.ts'
import { Soaker } from './soak/round.ts'

const optionOf = (name: string): string | undefined => {
  const place = process.argv.indexOf(name)
  return place < 0 ? undefined : process.argv[place + 1]
}

const minutes = Number(optionOf('--minutes') ?? 60)
const roundsPerMinute = Number(optionOf('--rounds-per-minute') ?? 30)
const snapshotFile = optionOf('--snapshot')
/** Rounds at a time; a slow machine does fewer rounds per minute. */
const workers = 6
const nodes = 3
const collectionMinutes = 10
const minuteMs = 60_000
const megabyte = 1024 * 1024

interface Progress {
  rounds: number
  created: number
  readonly failures: string[]
}

/** Rounds in sequence, each started at its time. */
async function work(access: Access, worker: number, progress: Progress, signal: AbortSignal): Promise<void> {
  using soaker = new Soaker(access)
  const startMs = realClock.monotonicMs()
  for (let round = worker; !signal.aborted; round += workers) {
    const dueMs = startMs + (round * minuteMs) / roundsPerMinute
    await realClock.sleep(Math.max(0, dueMs - realClock.monotonicMs()), signal).catch(() => {})
    if (signal.aborted) return
    const before = soaker.created
    await soaker.round(round).catch((error: Error) => progress.failures.push(error.message))
    progress.rounds++
    progress.created += soaker.created - before
  }
}

const sumOf = (metrics: string, pattern: RegExp): number =>
  metrics.matchAll(pattern).reduce((sum, [, value]) => sum + Number(value), 0)

const folderMb = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false }))
    .reduce((sum, found) => sum + (found?.isFile() === true ? found.size : 0), 0) / megabyte

const titles = [
  ...['minute', 'rounds', 'failed', 'created', 'objects', 'events', 'resident MB', 'heap used MB', 'external MB'],
  ...['after a collection: heap MB', 'external MB', 'files MB', 'processors'],
]

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

export const soakBench: Bench = {
  name: 'soak',
  async *run() {
    yield `${roundsPerMinute} namespaces a minute for ${minutes} minutes, ${nodes} simulated nodes`
    const folder = await newFolder()
    const data = join(folder, 'data')
    const kubeconfig = join(folder, 'kubeconfig')
    await using stack = new AsyncDisposableStack()
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const files = ['--data-dir', data, '--kubeconfig', kubeconfig]
    const args = ['up', '--port', '0', '--runtime', 'simulated', '--nodes', String(nodes), ...files]
    const env = { ...process.env, NODE_OPTIONS: '--inspect=127.0.0.1:0' }
    const up = stack.use(await startProcess(args, { env }))
    const access = accessOf(kubeconfig)
    const observer = new Client(access)
    stack.defer(() => observer.close())
    const progress: Progress = { rounds: 0, created: 0, failures: [] }
    const ending = new AbortController()
    const working = Array.from({ length: workers }, (_, worker) => work(access, worker, progress, ending.signal))

    yield row(titles)
    yield row(titles.map(() => '---'))
    const startMs = realClock.monotonicMs()
    let beforeMs = processorMs(up.pid)
    for (let minute = 1; minute <= minutes; minute++) {
      await realClock.sleep(Math.max(0, startMs + minute * minuteMs - realClock.monotonicMs()), ending.signal)
      const resident = memoryMb(up.pid)
      const { text } = await observer.send('GET', '/metrics')
      const nowMs = processorMs(up.pid)
      const cores = (nowMs - beforeMs) / minuteMs
      beforeMs = nowMs
      let collected = ['', '']
      if (minute % collectionMinutes === 0 || minute === minutes) {
        using inspector = await Inspector.open(inspectorUrl(up.logged()))
        const { heapUsed, external } = await inspector.usageAfterCollection()
        collected = [heapUsed, external].map((bytes) => (bytes / megabyte).toFixed(1))
      }
      yield row([
        ...[minute, progress.rounds, progress.failures.length, progress.created].map(String),
        String(sumOf(text, /^apiserver_resource_objects\{.*\} (\d+)/gm)),
        String(sumOf(text, /^apiserver_resource_objects\{.*resource="events"\} (\d+)/gm)),
        resident.toFixed(0),
        (sumOf(text, /^nodejs_heap_size_used_bytes (\S+)/gm) / megabyte).toFixed(1),
        (sumOf(text, /^nodejs_external_memory_bytes (\S+)/gm) / megabyte).toFixed(1),
        ...collected,
        folderMb(data).toFixed(0),
        cores.toFixed(2),
      ])
    }
    ending.abort()
    await Promise.all(working)
    if (snapshotFile !== undefined) {
      using inspector = await Inspector.open(inspectorUrl(up.logged()))
      await inspector.writeSnapshot(snapshotFile)
    }
    yield* [...new Set(progress.failures)].slice(0, 10).map((failure) => `failed: ${failure}`)
  },
}
