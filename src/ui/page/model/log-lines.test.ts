// Logs of several containers in the order of their times, and the search in them.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { foundLines, markedPieces, mergedLinesMax, MergedLog } from './log-lines.ts'

suite('merged logs', () => {
  test('lines are in the order of their times; what is read again is not repeated', () => {
    const log = new MergedLog()
    equal(log.lastTime('[a]'), undefined)
    log.add('[a]', '2030-01-01T00:00:01.5Z one\n2030-01-01T00:00:03Z three\n')
    log.add('[b]', '2030-01-01T00:00:01.45Z zero\n2030-01-01T01:00:02+01:00 two\n')
    log.add('[a]', '2030-01-01T00:00:03Z three\n2030-01-01T00:00:03.000000001Z four\n')
    deepEqual(log.text.split('\n'), ['[b] zero', '[a] one', '[b] two', '[a] three', '[a] four', ''])
    equal(log.lastTime('[a]'), '2030-01-01T00:00:03.000000001Z')
  })

  test('the oldest lines are dropped beyond the limit; lines without a time are ignored', () => {
    const log = new MergedLog()
    const at = (second: number): string => new Date(second * 1_000).toISOString()
    log.add(
      '[a]',
      `none\n${Array.from({ length: mergedLinesMax + 3 }, (_, second) => `${at(second)} ${second}\n`).join('')}`,
    )
    const lines = log.text.trimEnd().split('\n')
    deepEqual([lines.length, lines[0], lines.at(-1)], [mergedLinesMax, '[a] 3', `[a] ${mergedLinesMax + 2}`])
  })
})

suite('search in a log', () => {
  test('lines with the text are shown, in upper or lower case', () => {
    deepEqual(foundLines('One\ntwo\nONE more\n', 'one'), { lines: ['One', 'ONE more'], total: 3 })
    deepEqual(foundLines('a\nb', ''), { lines: ['a', 'b'], total: 2 })
    deepEqual(foundLines('', 'x'), { lines: [], total: 0 })
  })

  for (const [name, line, search, expected] of [
    ['every second piece is what was searched for', 'a-X-x', 'x', ['a-', 'X', '-', 'x', '']],
    ['without a search there is one piece', 'abc', '', ['abc']],
    ['letters whose lower case is longer are not marked', 'İx', 'x', ['İx']],
  ] as const)
    test(name, () => {
      deepEqual(markedPieces(line, search), expected)
    })
})
