import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { detachedReport, printedLater, startReportText } from './start-report.ts'

const report = {
  tookMs: 270.4,
  url: 'https://a',
  facts: [
    ['nodes', '1 simulated\n(real ones: need root)'],
    ['store', 'SQLite'],
  ],
  nextSteps: ['export KUBECONFIG=/k', 'coxswain ui'],
} as const

const text = `ready in 270 ms at https://a

  nodes       1 simulated
              (real ones: need root)
  store       SQLite

  Next, in another terminal:
    export KUBECONFIG=/k
    coxswain ui

`

const ends: [what: string, endContainers: string | undefined, last: string][] = [
  ['a stop ends everything', undefined, '  Ctrl-C ends it.\n'],
  [
    'containers keep running',
    'coxswain down --containers --data-dir /d',
    '  Ctrl-C ends it; containers keep running until: coxswain down --containers --data-dir /d\n',
  ],
]
for (const [what, endContainers, last] of ends)
  test(`the report of a start says that ${what}; in the background it ends with the next steps`, () => {
    const printed = startReportText({ ...report, endContainers })
    equal(printed, `${text}${last}`)
    const kept = text.replace('Next, in another terminal:', 'Next:').trimEnd()
    equal(detachedReport(`{"level":"warn"}\n${printed}\n  node a runs containers\n`), kept)
    equal(
      printedLater(`${printed}{"level":"warn"}\n\n  No real containers: no runc.\n  A simulated node runs.\n`),
      '  No real containers: no runc.\n  A simulated node runs.',
    )
    equal(printedLater(printed), '')
    equal(detachedReport(printed.slice(0, -last.length)), undefined)
  })
