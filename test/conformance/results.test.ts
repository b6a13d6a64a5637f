import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { countsBySig, failureLines, resultsPage, sigTable } from './results-page.ts'
import { Results } from './results.ts'
import type { Outcome } from './spec-report.ts'

const passed: Outcome = { state: 'passed', seconds: 2, started: '' }
const failed: Outcome = { state: 'failed', seconds: 3, started: '', message: 'a | b\nmore', where: 'job.go:1' }
const specs = { '[sig-node] a': passed, '[sig-apps] b': failed, '[sig-apps] c': passed, d: passed }

suite('the page of results', () => {
  test('counts by SIG, with the sum at the end', () => {
    deepEqual(
      [...countsBySig(specs)].map(([sig, counts]) => [sig, counts.passed, counts.failed, counts.all]),
      [
        ['other', 1, 0, 1],
        ['sig-apps', 1, 1, 2],
        ['sig-node', 1, 0, 1],
        ['all', 3, 1, 4],
      ],
    )
  })

  test('has one row for each SIG', () => {
    const table = sigTable({ '[sig-node] a': passed })
    deepEqual(table.slice(2), ['| sig-node | 1 | 0 | 0 | 0 | 0 | 1 |', '| all | 1 | 0 | 0 | 0 | 0 | 1 |'])
  })

  test('shows the first line of each failure', () => {
    deepEqual(failureLines(specs), ['failed: [sig-apps] b\n    a | b'])
  })

  test('escapes what would break a table', () => {
    match(resultsPage({ specs, seconds: 90, incidents: [] }), /\| \[sig-apps\] b \| 3 \| a \\\| b \| job\.go:1 \|/)
  })

  test('lists incidents', () => {
    const incidents = [{ time: '2026-01-02T03:04:05Z', what: 'it stopped' }]
    match(resultsPage({ specs, seconds: 0, incidents }), /- 2026-01-02T03:04:05Z: it stopped/)
  })
})

test('results of an earlier run are kept, and a new outcome replaces the old one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coxswain-results-'))
  try {
    const first = new Results(folder)
    first.add(new Map(Object.entries(specs)), 10)
    first.incident('it stopped')
    first.save()
    const second = new Results(folder)
    second.add(new Map([['[sig-apps] b', passed]]), 5)
    second.save()
    const { seconds, incidents } = second.recorded()
    deepEqual([seconds, incidents.length], [15, 1])
    equal(new Results(folder).outcome('[sig-apps] b')?.state, 'passed')
    match(readFileSync(join(folder, 'results.md'), 'utf8'), /\| all \| 4 \| 0 /)
    // The first failure stays, also after a third run.
    const third = new Results(folder)
    third.add(new Map([['[sig-apps] b', { ...failed, message: 'something else' }]]), 5)
    third.save()
    deepEqual(new Results(folder).outcome('[sig-apps] b')?.firstFailure, failed)
    match(
      readFileSync(join(folder, 'results.md'), 'utf8'),
      /## run again after a failure \(1\)[^]*\| \[sig-apps\] b \| 3 \| a \\\| b \| job\.go:1 \|/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
