import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  firstLine,
  hasBegun,
  isSerial,
  outcomeOf,
  specName,
  specReports,
  type Outcome,
  type SpecReport,
} from './spec-report.ts'

const report = (more: Partial<SpecReport> = {}): SpecReport => ({
  ContainerHierarchyTexts: ['[sig-apps] Job'],
  LeafNodeText: 'should run [Conformance]',
  LeafNodeType: 'It',
  State: 'passed',
  StartTime: '2026-01-02T03:04:05Z',
  RunTime: 12_340_000_000,
  NumAttempts: 1,
  ...more,
})

const location = { FileName: '/go/src/k8s.io/kubernetes/test/e2e/apps/job.go', LineNumber: 7 }
const outcomes: readonly (readonly [what: string, report: Partial<SpecReport>, outcome: Partial<Outcome>])[] = [
  ['a passed spec has its duration in seconds', {}, { state: 'passed', seconds: 12.3 }],
  [
    'a failed one has its message and the place in the suite',
    { State: 'failed', Failure: { Message: 'no pod', Location: location } },
    { state: 'failed', message: 'no pod', where: 'test/e2e/apps/job.go:7' },
  ],
  [
    'a panicked one has failed',
    { State: 'panicked', Failure: { Message: 'nil' } },
    { state: 'failed', message: 'nil' },
  ],
  ['one that ran out of time is interrupted', { State: 'timedout' }, { state: 'interrupted', message: '' }],
  ['a skipped one has the reason', { State: 'skipped', Failure: { Message: 'no GPU' } }, { message: 'no GPU' }],
  [
    'one that passed without its definition is hollow',
    { CapturedGinkgoWriterOutput: 'a\nUnexpected error while creating CustomResourceDefinition: 404\nb' },
    { state: 'hollow', message: 'Unexpected error while creating CustomResourceDefinition: 404' },
  ],
  [
    'one whose proxied requests were refused is hollow',
    { CapturedGinkgoWriterOutput: 'http.Client request:PATCH | StatusCode:405\n' },
    { state: 'hollow' },
  ],
  [
    'a failed one is failed, whatever it printed',
    { State: 'failed', CapturedGinkgoWriterOutput: 'http.Client request:PATCH | StatusCode:405\n' },
    { state: 'failed' },
  ],
]

suite('outcomes of specs', () => {
  for (const [what, given, expected] of outcomes)
    test(what, () => {
      const outcome = outcomeOf(report(given))
      for (const [key, value] of Object.entries(expected)) equal(outcome[key as keyof Outcome], value)
    })

  test('steps of the suite itself are no specs, and a process may have none', () => {
    const text = JSON.stringify([
      { SpecReports: [report(), report({ LeafNodeType: 'SynchronizedBeforeSuite' })] },
      { SpecReports: null },
    ])
    deepEqual(specReports(text).map(specName), ['[sig-apps] Job should run [Conformance]'])
  })

  test('a spec that did not begin has no attempts', () => {
    equal(hasBegun(report()), true)
    equal(hasBegun(report({ NumAttempts: 0 })), false)
  })

  test('serial and disruptive specs do not run beside others', () => {
    deepEqual(['a [Serial] b', '[Disruptive] a', 'a serial b'].map(isSerial), [true, true, false])
  })
})

suite('the first line of a failure', () => {
  for (const [message, line] of [
    ['  pod failed\nmore', 'pod failed'],
    ['Unexpected error:\n  <*errors>\n  not found', 'Unexpected error: <*errors> not found'],
    ['Expected\n  <int>: 1\nto equal\n  <int>: 2', 'Expected <int>: 1 to equal <int>: 2'],
    ['', ''],
  ] as const)
    test(JSON.stringify(message), () => equal(firstLine(message), line))
})
