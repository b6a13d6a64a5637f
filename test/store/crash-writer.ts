// A process that writes as fast as possible with many writers and prints what was acknowledged, until it is killed.
// Each transaction writes a key and a second key with the same value. crash.test.ts starts it: `crash-writer.ts <path>
// <run> <revision>`. Before it writes, it prints what it finds in the store. Run 0 ends there. Lines:
//   start                             the store is about to be opened
//   event <revision> <key> <number>   a change after the given revision
//   state <key> <number>              a current value
//   open <revision>                   everything that was found is printed
//   ack <revision> <key> <number>     an acknowledged write
import { realClock } from '../../src/base/time/clock.ts'
import { nodeWorkers } from '../../src/platform/node/process/workers.ts'
import { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { printLine } from './print-line.ts'

const writers = 16
/** How often the history is compacted, and how much remains. What the next run must find is never compacted. */
const compactEvery = 150
const revisionsKept = 700

const [, , path = '', run = '', last = ''] = process.argv
const { signal } = new AbortController()

printLine('start')
const store = await SqliteStore.open({ path, clock: realClock, workers: nodeWorkers }, signal)
const opened = store.revision
const numberOf = (value: Uint8Array): string => new TextDecoder().decode(value).split(' ')[0] ?? ''

const found: string[] = []
if (opened > Number(last))
  for await (const batch of store.watch({ prefix: '', from: Number(last) + 1 }, signal)) {
    for (const event of batch.events)
      if (event.kind === 'put') found.push(`event ${event.revision} ${event.item.key} ${numberOf(event.item.value)}`)
    if (batch.revision === opened) break
  }
for (const { key, value } of (await store.range({ start: '', end: '' }, signal)).items)
  found.push(`state ${key} ${numberOf(value)}`)
printLine([...found, `open ${opened}`].join('\n'))
if (run === '0') {
  await store.close()
  process.exit()
}

async function write(key: string): Promise<never> {
  for (let number = 1; ; number++) {
    const value = new TextEncoder().encode(`${run}.${number} ${'x'.repeat((number * 37) % 2_000)}`)
    const operations = [key, `${key}/twin`].map((each) => ({ kind: 'put', key: each, value }) as const)
    const { revision } = await store.commit({ conditions: [], operations }, signal)
    printLine(`ack ${revision} ${key} ${run}.${number}`)
    if (revision % compactEvery === 0)
      await store.compact(Math.max(1, Math.min(opened, revision - revisionsKept)), signal)
  }
}

await Promise.all(Array.from({ length: writers }, (_, i) => write(`/writer/${i}`)))
