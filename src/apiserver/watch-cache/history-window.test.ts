import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { HistoryWindow, historyMsMin, historyRevisionsMin } from './history-window.ts'

const many = historyRevisionsMin

interface Case {
  /** The revisions that are reached, and when, in fractions of the window. */
  readonly reached: readonly (readonly [revision: number, windows: number])[]
  readonly dropped: number | undefined
}

const cases: Readonly<Record<string, Case>> = {
  'young revisions are kept, however many': {
    reached: [
      [1, 0],
      [9 * many, 0.9],
    ],
    dropped: undefined,
  },
  'old revisions are kept while they are few': {
    reached: [
      [1, 0],
      [2, 5],
      [3, 9],
    ],
    dropped: 3 - many,
  },
  'old revisions beyond the number are dropped': {
    reached: [
      [many, 0],
      [3 * many, 1],
      [4 * many, 1.5],
    ],
    dropped: many,
  },
  'the newest revision that is old enough counts': {
    reached: [
      [1, 0],
      [many, 1],
      [9 * many, 2],
    ],
    dropped: many,
  },
  'the number counts from the newest revision': {
    reached: [
      [1, 0],
      [many, 1],
      [many + 9, 2],
    ],
    dropped: 9,
  },
}

for (const [name, { reached, dropped }] of Object.entries(cases))
  test(name, () => {
    const window = new HistoryWindow()
    equal(reached.map(([revision, windows]) => window.advance(revision, windows * historyMsMin)).at(-1), dropped)
  })

test('revisions are dropped at most ten times in a window', () => {
  const window = new HistoryWindow()
  const step = historyMsMin / 100
  const times = Array.from({ length: 300 }, (_, index) => window.advance((index + 1) * many, index * step))
  equal(times.filter((revision) => revision !== undefined).length, 20)
})

test('after a restart of the store, revisions have to become old again', () => {
  const window = new HistoryWindow()
  window.advance(5 * many, 0)
  window.reset()
  const reached = [1, 1.5, 2.5].map((windows) => window.advance(2 * many, windows * historyMsMin))
  deepEqual(reached, [undefined, undefined, many])
})
