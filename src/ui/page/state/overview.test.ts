// When the overview is read: at once, then for a small part of the time, and rarely while nothing happens.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { FlowEvent } from '../../../base/observability/flow-recorder.ts'
import type { ClusterOverview, ClusterProblems } from '../source/overview.ts'
import { Overview } from './overview.ts'

async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await Promise.resolve()
}

const health: ClusterOverview = { health: [], capacity: [] }
const problems: ClusterProblems = { problems: [], omitted: 0, checked: 0, notes: [] }
const event = (what: string): FlowEvent =>
  ({ what, object: { resource: 'pods', namespace: '', name: 'a' } }) as unknown as FlowEvent

/** Reading the health takes the server 50 ms, reading the problems fails at first. */
function followed() {
  const reads: string[] = []
  const sleeping: { readonly ms: number; readonly wake: () => void }[] = []
  let failures = 1
  const overview = new Overview({
    source: {
      summaries: {
        overview: async (namespace) => {
          reads.push(`health ${namespace}`)
          return { ...health, tookMs: 50 }
        },
        problems: async (namespace) => {
          reads.push(`problems ${namespace}`)
          if (failures-- > 0) throw new Error('not ready')
          return { ...problems, tookMs: 5 }
        },
      },
    },
    whenDrawn: async () => undefined,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        sleeping.push({ ms, wake: resolve })
        signal.addEventListener('abort', () => reject(new Error('aborted')))
      }),
    changed: () => undefined,
  })
  overview.follow('shop')
  return { overview, reads, sleeping }
}

test('it is read at once, and again after something has happened, for one percent of the time', async () => {
  const { overview, reads, sleeping } = followed()
  await settled()
  deepEqual(reads, ['health shop', 'problems shop'])
  deepEqual(overview.health?.health, [])
  equal((overview.problemsFailure as Error).message, 'not ready')
  const rests = sleeping.splice(0)
  deepEqual(
    rests.map(({ ms }) => ms).toSorted((a, b) => a - b),
    [2_000, 7_500],
  )
  overview.observe([event('create pods')])
  await settled()
  equal(reads.length, 2, 'it rests')
  for (const { wake } of rests) wake()
  await settled()
  equal(reads.length, 4)
  deepEqual([overview.problems?.checked, overview.problemsFailure], [0, undefined])
  overview.stop()
})

test('while nothing happens, it is read after a minute', async () => {
  const { overview, reads, sleeping } = followed()
  await settled()
  for (const { wake } of sleeping.splice(0)) wake()
  overview.observe([event('list pods')])
  await settled()
  equal(reads.length, 2)
  deepEqual(
    sleeping.map(({ ms }) => ms),
    [60_000, 60_000],
  )
  for (const { wake } of sleeping.splice(0)) wake()
  await settled()
  equal(reads.length, 4)
  overview.stop()
})

test('another namespace begins without data, and nothing is read after the end', async () => {
  const { overview, reads, sleeping } = followed()
  await settled()
  overview.follow('')
  equal(overview.health, undefined)
  await settled()
  deepEqual(reads.slice(2), ['health ', 'problems '])
  overview.stop()
  for (const { wake } of sleeping) wake()
  overview.observe([event('create pods')])
  await settled()
  equal(reads.length, 4)
})
