// A store that is killed at any moment, under load or while it starts, has every acknowledged transaction completely,
// and its revisions never go back. Every start prints what it finds, which is compared with what was acknowledged
// before. COXSWAIN_LONG=1: 10,000 kills.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { seededRandom, type Random } from '../../src/base/random/random.ts'
import { realClock } from '../../src/base/time/clock.ts'

const isLong = process.env['COXSWAIN_LONG'] === '1'
/** Stores that are killed at the same time: one waits for the disk while the other computes. */
const stores = isLong ? 2 : 1
const killsOfStore = isLong ? 5_000 : 12
const acknowledgedMax = 200
/** One of so many runs is killed while it opens the store, within this time. */
const earlyKillOf = 3
const openMsMax = 80
const progressEvery = 250
/** What a process has written to the kernel survives its kill on any file system; one in memory is the fastest. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const program = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))

/** What a run must find: values as `<run>.<number>`. */
interface Expected {
  revision: number
  /** Acknowledged since the last start that was checked: `key value` by revision. */
  readonly acknowledged: Map<number, string>
  /** By key, as of the last start that was checked. */
  readonly state: Map<string, string>
}

interface Kill {
  /** After so many acknowledged writes; 0: while the store is opened. */
  readonly acknowledged: number
  readonly afterMs: number
}

const randomKill = (random: Random): Kill =>
  random.below(earlyKillOf) === 0
    ? { acknowledged: 0, afterMs: random.below(openMsMax) }
    : { acknowledged: 1 + random.below(acknowledgedMax), afterMs: 0 }

/** The compiled code is cached beside the store: a process that is killed does not write it. */
const startWriter = (path: string, run: number, revision: number) =>
  spawn(process.execPath, [program, path, String(run), String(revision)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(path), 'compiled') },
  })

/** Runs the writers until they are killed, and checks what they found. All printed lines count. */
async function runAndKill(path: string, run: number, kill: Kill, expected: Expected): Promise<void> {
  const child = startWriter(path, run, expected.revision)
  const exited = once(child, 'exit')
  const events = new Map<number, string[]>()
  const state = new Map<string, string>()
  let acknowledged = 0
  using _ = { [Symbol.dispose]: () => void child.kill('SIGKILL') }
  for await (const line of createInterface({ input: child.stdout })) {
    const [word, first = '', second = '', third = ''] = line.split(' ')
    if (word === 'start' && kill.acknowledged === 0) realClock.after(kill.afterMs, () => child.kill('SIGKILL'))
    else if (word === 'event') events.set(Number(first), [...(events.get(Number(first)) ?? []), `${second} ${third}`])
    else if (word === 'state') state.set(first, second)
    else if (word === 'open') check(`run ${run}`, { revision: Number(first), events, state }, expected)
    // The last line may be truncated by the kill.
    else if (word === 'ack' && third !== '') {
      expected.acknowledged.set(Number(first), `${second} ${third}`)
      if (++acknowledged === kill.acknowledged) child.kill('SIGKILL')
    }
  }
  const [, signalName] = (await exited) as [number | null, string | null]
  equal(signalName, 'SIGKILL', `run ${run} ended by itself`)
}

interface Found {
  readonly revision: number
  readonly events: ReadonlyMap<number, readonly string[]>
  readonly state: ReadonlyMap<string, string>
}

/** Compares what a start found with what is expected, which becomes what it found. */
function check(name: string, { revision, events, state }: Found, expected: Expected): void {
  deepEqual(
    [...events.keys()],
    Array.from({ length: revision - expected.revision }, (_, i) => expected.revision + 1 + i),
    `${name}: revisions`,
  )
  for (const [at, written] of expected.acknowledged)
    equal(events.get(at)?.[0], written, `${name}: the acknowledged write of revision ${at}`)
  for (const [at, changes] of events) {
    const [key = '', value = ''] = changes[0]?.split(' ') ?? []
    deepEqual(changes, [`${key} ${value}`, `${key}/twin ${value}`], `${name}: revision ${at} is complete`)
    expected.state.set(key, value).set(`${key}/twin`, value)
  }
  deepEqual(new Map([...state].toSorted()), new Map([...expected.state].toSorted()), `${name}: current values`)
  expected.revision = revision
  expected.acknowledged.clear()
}

async function killOften(store: number): Promise<void> {
  const directory = await mkdtemp(join(parent, 'coxswain-crash-'))
  const path = join(directory, 'store.db')
  const random = seededRandom(store)
  const expected: Expected = { revision: 1, acknowledged: new Map(), state: new Map() }
  const first = startWriter(path, 0, expected.revision)
  first.stdout.resume()
  await once(first, 'exit')
  for (let run = 1; run <= killsOfStore; run++) {
    await runAndKill(path, run, randomKill(random), expected)
    if (run % progressEvery === 0) process.stdout.write(`store ${store}: ${run} kills, revision ${expected.revision}\n`)
  }
  await runAndKill(path, killsOfStore + 1, { acknowledged: 1, afterMs: 0 }, expected)
  ok(expected.revision > killsOfStore, `only revision ${expected.revision} was reached`)
  await rm(directory, { recursive: true })
}

test(`every acknowledged write survives ${stores * killsOfStore} kills`, async () => {
  await Promise.all(Array.from({ length: stores }, (_, index) => killOften(index + 1)))
})
