// A soak: namespaces with objects of many kinds are created and deleted in a loop, so that about the same number of objects
// is alive all the time, and the memory of `coxswain up` must level off. It does the work of hours of Kubernetes' e2e suite in
// minutes; one row for each half hour of the suite, with the heap after a collection:
//
//   npm run bench -- soak [--suite-hours 4] [--rounds-per-minute 100] [--snapshot <file>]
//
// What is kept for a time, such as the counts of repeated events, is kept for more rounds than in the suite. A heap snapshot is
// written at the end only: it takes several times the memory of the heap, and resident memory stays larger after it.
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

/** The conformance specs, 446 in 49 minutes, have one namespace each (docs/conformance.md). */
const roundsPerSuiteHour = Math.round((446 * 60) / 49)
const hoursPerRow = 0.5
const suiteHours = Number(optionOf('--suite-hours') ?? 4)
const roundsPerMinute = Number(optionOf('--rounds-per-minute') ?? 100)
const snapshotFile = optionOf('--snapshot')
/** Rounds at a time; a slow machine does fewer rounds per minute. */
const workers = 6
const nodes = 3
const minuteMs = 60_000
const pollMs = 100
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
  ...['suite hours', 'minutes', 'rounds', 'failed', 'created', 'objects', 'events'],
  ...['resident MB', 'after a collection: heap MB', 'external MB', 'files MB', 'processors'],
]

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

export const soakBench: Bench = {
  name: 'soak',
  async *run() {
    yield `${roundsPerMinute} namespaces a minute, ${roundsPerSuiteHour} as an hour of the suite, ${nodes} simulated nodes`
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
    let beforeMs = { processor: processorMs(up.pid), clock: startMs }
    for (let hours = hoursPerRow; hours <= suiteHours; hours += hoursPerRow) {
      while (progress.rounds < hours * roundsPerSuiteHour) await realClock.sleep(pollMs, ending.signal)
      const resident = memoryMb(up.pid)
      const { text } = await observer.send('GET', '/metrics')
      const nowMs = { processor: processorMs(up.pid), clock: realClock.monotonicMs() }
      const cores = (nowMs.processor - beforeMs.processor) / (nowMs.clock - beforeMs.clock)
      beforeMs = nowMs
      using inspector = await Inspector.open(inspectorUrl(up.logged()))
      const { heapUsed, external } = await inspector.usageAfterCollection()
      yield row([
        hours.toFixed(1),
        ((nowMs.clock - startMs) / minuteMs).toFixed(1),
        ...[progress.rounds, progress.failures.length, progress.created].map(String),
        String(sumOf(text, /^apiserver_resource_objects\{.*\} (\d+)/gm)),
        String(sumOf(text, /^apiserver_resource_objects\{.*resource="events"\} (\d+)/gm)),
        resident.toFixed(0),
        ...[heapUsed, external].map((bytes) => (bytes / megabyte).toFixed(1)),
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
