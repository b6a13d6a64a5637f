// A store that is killed at any moment under load has every acknowledged transaction completely, and its revisions
// never go back.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { realClock } from '../../src/base/time/clock.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

const { signal } = new AbortController()
const kills = process.env['COXSWAIN_LONG'] === '1' ? 10_000 : 8
const acknowledgedMax = 600
const program = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))

interface Run {
  readonly opened: number
  /** By revision: key and number. */
  readonly acknowledged: ReadonlyMap<number, string>
}

/** Runs the writers until `count` writes were acknowledged, then kills them. All printed lines count. */
async function runAndKill(path: string, run: number, count: number): Promise<Run> {
  const child = spawn(process.execPath, [program, path, String(run)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let opened = 0
  const acknowledged = new Map<number, string>()
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, first = '', second = '', third = ''] = line.split(' ')
    if (word === 'open') opened = Number(first)
    else if (third !== '') acknowledged.set(Number(third), `${first} ${run}.${second}`)
    if (acknowledged.size === count) child.kill('SIGKILL')
  }
  await exited
  ok(acknowledged.size >= count, `the writers ended by themselves after ${acknowledged.size} writes`)
  return { opened, acknowledged }
}

/** The changes of every revision after `last`, as the watch delivers them: `key value`. */
async function eventsSince(store: SqliteStore, last: number): Promise<Map<number, string[]>> {
  const events = new Map<number, string[]>()
  if (store.revision === last) return events
  for await (const batch of store.watch({ prefix: '', from: last + 1 }, signal)) {
    for (const event of batch.events)
      if (event.kind === 'put') {
        const [number = ''] = new TextDecoder().decode(event.item.value).split(' ')
        events.set(event.revision, [...(events.get(event.revision) ?? []), `${event.item.key} ${number}`])
      }
    if (batch.revision === store.revision) break
  }
  return events
}

test(`every acknowledged write survives ${kills} kills`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-crash-'))
  const path = join(directory, 'store.db')
  const random = seededRandom(kills)
  let last = 1
  for (let run = 0; run < kills; run++) {
    const { opened, acknowledged } = await runAndKill(path, run, 1 + random.below(acknowledgedMax))
    equal(opened, last, 'a start finds what the check before it found')
    const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
    const events = await eventsSince(store, last)
    deepEqual(
      [...events.keys()],
      Array.from({ length: store.revision - last }, (_, i) => last + 1 + i),
    )
    for (const [revision, written] of acknowledged)
      equal(events.get(revision)?.[0], written, `run ${run}: the acknowledged write of revision ${revision}`)
    for (const [revision, changes] of events) {
      const [key, number] = changes[0]?.split(' ') ?? []
      deepEqual(changes, [`${key} ${number}`, `${key}/twin ${number}`], `run ${run}: revision ${revision} is whole`)
    }
    last = store.revision
    await store.close()
  }
  await rm(directory, { recursive: true })
})
