// Tables for Job and CronJob: defaults, what is rejected, what may change, columns.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf, type InvalidCase } from '../../kind/kind.harness.ts'
import { cronJob } from './cron-job.ts'
import { scheduleError } from './cron-schedule.ts'
import { parseIndexes } from './job-indexes.ts'
import { withGeneratedSelector } from './job-selector.ts'
import { job } from './job.ts'

const template = { spec: { containers: [{ name: 'c', image: 'busybox:1' }], restartPolicy: 'Never' } }
const indexed = { template, completions: 3, completionMode: 'Indexed' }
const onExitCodes = { operator: 'In', values: [3] }
const failing = (rule: object) => ({ spec: { template, podFailurePolicy: { rules: [rule] } } })
const succeeding = (rule: object) => ({ spec: { ...indexed, successPolicy: { rules: [rule] } } })

test('the defaults of a Job depend on one another', () => {
  const filled = (spec: object) => {
    const { parallelism, completions, backoffLimit, podReplacementPolicy } = objectFrom(job, { spec }).spec
    return [parallelism, completions, backoffLimit, podReplacementPolicy]
  }
  deepEqual(
    [
      filled({ template }),
      filled({ template, parallelism: 2 }),
      filled({ template, completions: 5 }),
      filled({ ...indexed, backoffLimitPerIndex: 1 }),
      filled(failing({ action: 'Count', onExitCodes }).spec),
    ],
    [
      [1, 1, 6, 'TerminatingOrFailed'],
      [2, undefined, 6, 'TerminatingOrFailed'],
      [1, 5, 6, 'TerminatingOrFailed'],
      [1, 3, 2_147_483_647, 'TerminatingOrFailed'],
      [1, 1, 6, 'Failed'],
    ],
  )
})

test('a new Job selects its pods by its uid, and has the labels of its pods', () => {
  const { metadata, spec } = withGeneratedSelector(objectFrom(job, { spec: { template } }))
  const labels = {
    'batch.kubernetes.io/controller-uid': 'u',
    'batch.kubernetes.io/job-name': 'x',
    'controller-uid': 'u',
    'job-name': 'x',
  }
  deepEqual(spec.selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } })
  deepEqual([metadata.labels, spec.template.metadata.labels], [labels, labels])
  deepEqual(job.validate(withGeneratedSelector(objectFrom(job, { spec: { template } }))), [])
  const manual = objectFrom(job, { spec: { template, manualSelector: true } })
  equal(withGeneratedSelector(manual), manual)
})

testInvalidObjects(job, [
  ['valid', { spec: { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 1 } }, []],
  [
    'restartPolicy Always',
    { spec: { template: { spec: { ...template.spec, restartPolicy: 'Always' } } } },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
  [
    'limits per index without indexes',
    { spec: { template, backoffLimitPerIndex: 1, maxFailedIndexes: 1 } },
    [
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  ],
  [
    'Indexed completion without completions',
    { spec: { template, completionMode: 'Indexed', parallelism: 1 } },
    ['spec.completions: Required value: when completion mode is Indexed'],
  ],
  [
    'an empty completion mode',
    { spec: { template, completionMode: '' } },
    ['spec.completionMode: Unsupported value: "": supported values: "NonIndexed", "Indexed"'],
  ],
  [
    'maxFailedIndexes above the completions',
    { spec: { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 100_001 } },
    [
      'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to completions',
      'spec.maxFailedIndexes: Invalid value: 100001: must be less than or equal to 100000',
    ],
  ],
  [
    'maxFailedIndexes without backoffLimitPerIndex',
    { spec: { ...indexed, maxFailedIndexes: 1 } },
    ['spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified'],
  ],
  [
    'many completions with a high parallelism, without maxFailedIndexes',
    { spec: { ...indexed, completions: 100_001, backoffLimitPerIndex: 1, parallelism: 10_001 } },
    [
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
      'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
  ],
  [
    'a name too long for its pods',
    { metadata: { name: 'a'.repeat(62) }, spec: indexed },
    [/^metadata\.name: Invalid value: "a+": will not able to create pod with invalid DNS label: a+-2$/],
  ],
  [
    'a manager without domain',
    { spec: { template, managedBy: 'me' } },
    ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    'manualSelector without a selector',
    { metadata: { name: 'x' }, spec: { template, manualSelector: true } },
    ['spec.selector: Required value'],
  ],
])

const rules: readonly InvalidCase[] = [
  ['a rule on exit codes', failing({ action: 'FailJob', onExitCodes }), []],
  [
    'a condition is true by default',
    failing({ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }),
    [],
  ],
  [
    'a rule without action or reason',
    failing({}),
    [
      'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob" "Ignore"]',
      'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
    ],
  ],
  [
    'exit codes out of order, duplicate and zero',
    failing({ action: 'Count', onExitCodes: { operator: 'In', values: [2, 2, 0], containerName: 'other' } }),
    [
      'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 2',
      'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Invalid value: 0: must not be 0 for the In operator',
      'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,2,0]: must be ordered',
    ],
  ],
  [
    'FailIndex without backoffLimitPerIndex',
    failing({ action: 'FailIndex', onExitCodes }),
    ['spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set'],
  ],
  ['enough successes', succeeding({ succeededIndexes: '0,2', succeededCount: 2 }), []],
  [
    'a succeededCount above the number of indexes',
    succeeding({ succeededIndexes: '0-1', succeededCount: 3 }),
    [
      'spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
    ],
  ],
  [
    'indexes that do not exist',
    succeeding({ succeededIndexes: '1-3' }),
    [
      'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-3": error parsing succeededIndexes: too large index: "3"',
    ],
  ],
]
testInvalidObjects(job, rules)

test('indexes are counted, and must increase', () => {
  deepEqual(
    ['', '0,2-4', '2,1', '1-x', '1-2-3'].map((text) => parseIndexes(text, 10)),
    [
      { kind: 'indexes', count: 0 },
      { kind: 'indexes', count: 4 },
      { kind: 'broken', why: 'non-increasing order, previous: 2, current: 1' },
      { kind: 'broken', why: 'cannot convert string to integer for index: "x"' },
      {
        kind: 'broken',
        why: `the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by '-'`,
      },
    ],
  )
})

// Recorded from kube-apiserver v1.36.4.
const resized = (spec: object = {}) => ({
  ...template,
  spec: { ...template.spec, containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }], ...spec },
})
const suspendedTrue = [{ type: 'Suspended', status: 'True' }]
const started = '2026-01-01T00:00:00Z'
const templateChanges: [why: string, suspend: boolean, status: object, template: object, error: string | undefined][] =
  [
    ['resources while it is suspended', true, {}, resized(), undefined],
    ['resources while it runs', false, {}, resized(), 'spec.template'],
    ['resources while it is stopping', true, { startTime: started }, resized(), 'spec.template'],
    ['resources after it stopped', true, { startTime: started, conditions: suspendedTrue }, resized(), undefined],
    [
      'resources with pods',
      true,
      { startTime: started, conditions: suspendedTrue, active: 1 },
      resized(),
      'spec.template',
    ],
    ['resources and placement', true, {}, resized({ nodeSelector: { a: 'b' } }), undefined],
    [
      'placement after it stopped',
      true,
      { startTime: started, conditions: suspendedTrue },
      resized({ nodeSelector: { a: 'b' } }),
      'spec.template',
    ],
    ['finalizers', true, {}, { ...resized(), metadata: { finalizers: ['a.b/c'] } }, undefined],
    ['resources of the pod', true, {}, resized({ resources: { requests: { cpu: '3' } } }), 'spec.template.spec'],
    ['the image', true, {}, resized({ containers: [{ name: 'c', image: 'other' }] }), 'spec.template.spec'],
  ]
for (const [why, suspend, status, changed, error] of templateChanges)
  test(`pods of a Job: ${why} ${error === undefined ? 'may change' : 'is fixed'}`, () => {
    const before = { ...template, spec: { ...template.spec, containers: [{ name: 'c', image: 'i' }] } }
    const errors = updateErrorsOf(
      job,
      { spec: { template: before, suspend }, status },
      { spec: { template: changed, suspend }, status },
    )
    deepEqual(
      errors.map((text) => text.split(': ')[0]),
      error === undefined ? [] : [error],
    )
  })

test('mutable fields of a Job', () => {
  const placed = { ...template, spec: { ...template.spec, nodeSelector: { disk: 'ssd' } } }
  const suspended = { template, suspend: true }
  const rejected = (before: object, after: object) =>
    updateErrorsOf(job, { spec: before }, { spec: after }).map((text) => text.replace(/: Invalid value: .*: /, ': '))
  deepEqual(
    [
      rejected({ template }, { template, parallelism: 2, completions: 1, suspend: true }),
      rejected({ template, completions: 1 }, { template, completions: 2 }),
      rejected(indexed, { ...indexed, completions: 5, parallelism: 5 }),
      rejected(indexed, { ...indexed, completions: 5 }),
      rejected({ template }, { template: placed }),
      rejected(suspended, { ...suspended, template: placed }),
    ],
    [
      [],
      ['spec.completions: field is immutable'],
      [],
      ['spec.completions: can only be modified in tandem with spec.parallelism'],
      ['spec.template: field is immutable'],
      [],
    ],
  )
})

test('the columns of a Job show its progress', () => {
  const at = (minute: number) => `2030-01-01T00:0${minute}:00Z`
  const condition = (type: string) => ({ conditions: [{ type, status: 'True' }] })
  const shown = (spec: object, status: object) => cellsOf(job, { spec: { template, ...spec }, status }).slice(1, 4)
  deepEqual(
    [
      shown({}, {}),
      shown({ parallelism: 3 }, { succeeded: 1, startTime: at(0) }),
      shown({ completions: 2 }, { ...condition('Complete'), succeeded: 2, startTime: at(0), completionTime: at(1) }),
      shown({}, condition('Suspended')),
      shown({}, condition('Failed')),
    ],
    [
      ['Running', '0/1', ''],
      ['Running', '1/1 of 3', '60s'],
      ['Complete', '2/2', '60s'],
      ['Suspended', '0/1', ''],
      ['Failed', '0/1', ''],
    ],
  )
  equal(job.fieldLabels['status.successful']?.(objectFrom(job, { status: { succeeded: 2 } })), '2')
})

const jobTemplate = { spec: { template } }
const cron = { schedule: '*/5 * * * *', jobTemplate }

test("a minimal CronJob gets upstream's defaults, and its template no defaults of a Job", () => {
  const { jobTemplate: filled, ...rest } = objectFrom(cronJob, { spec: cron }).spec
  deepEqual(rest, {
    schedule: '*/5 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  })
  deepEqual(Object.keys(filled.spec), ['template'])
  equal(filled.spec.template.spec.containers[0]?.imagePullPolicy, 'IfNotPresent')
})

testInvalidObjects(cronJob, [
  ['valid', { spec: { ...cron, timeZone: 'Europe/Berlin' } }, []],
  [
    'an invalid schedule and a Job that always restarts',
    {
      spec: {
        schedule: 'every day',
        jobTemplate: { spec: { template: { spec: { containers: template.spec.containers } } } },
      },
    },
    [
      'spec.schedule: Invalid value: "every day": expected exactly 5 fields, found 2: [every day]',
      'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
    ],
  ],
  ['no schedule', { spec: { jobTemplate } }, ['spec.schedule: Required value']],
  [
    'a zone in the schedule',
    { spec: { ...cron, schedule: 'TZ=UTC 0 * * * *' } },
    [
      'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
    ],
  ],
  [
    'a zone that does not exist',
    { spec: { ...cron, timeZone: 'Mars/Olympus' } },
    ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
  ],
  [
    'an empty zone',
    { spec: { ...cron, timeZone: '' } },
    ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
  ],
  [
    'a selector that will be generated',
    { spec: { ...cron, jobTemplate: { spec: { template, selector: {}, manualSelector: true } } } },
    [
      'spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated',
      'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
    ],
  ],
  [
    'a name without room for the time suffix',
    { metadata: { name: 'a'.repeat(53) }, spec: cron },
    [/^metadata\.name: Invalid value: "a+": must be no more than 52 characters$/],
  ],
])

const schedules: readonly [text: string, error: string | undefined][] = [
  ['0 0 1 jan sun', undefined],
  ['0-30/5 */2 ? * mon-fri', undefined],
  ['@hourly', undefined],
  ['@every 1h30m', undefined],
  ['@sometimes', 'unrecognized descriptor: @sometimes'],
  ['@every now', 'failed to parse duration @every now: time: invalid duration "now"'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
  ['*/2/3 * * * *', 'too many slashes: */2/3'],
  ['x * * * *', 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'],
]
for (const [text, error] of schedules) test(`the schedule ${text}`, () => equal(scheduleError(text), error))

test('the columns of a CronJob', () => {
  const status = { active: [{ name: 'x-1' }], lastScheduleTime: '2030-01-01T00:00:00Z' }
  deepEqual(
    [cellsOf(cronJob, { spec: cron }), cellsOf(cronJob, { spec: { ...cron, timeZone: 'UTC', suspend: true }, status })],
    [
      ['x', '*/5 * * * *', '<none>', 'False', 0, '<none>', '60s', 'c', 'busybox:1', '<none>'],
      ['x', '*/5 * * * *', 'UTC', 'True', 1, '60s', '60s', 'c', 'busybox:1', '<none>'],
    ],
  )
})
