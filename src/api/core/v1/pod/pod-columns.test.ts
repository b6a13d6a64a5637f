// The columns of pods in kubectl: ready, status and restarts.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { objectFrom } from '../../../kind/kind.harness.ts'
import { podGatesText, podReadyText, podRestartsText, podStatusText } from './pod-columns.ts'
import { pod } from './pod.ts'

const nowMs = Date.UTC(2030, 0, 1, 0, 1)
const running = { ready: true, started: true, state: { running: {} } }
const waits = (reason?: string) => ({ ready: false, state: { waiting: { reason } } })
const ended = (exitCode: number, more: object = {}) => ({
  ready: exitCode === 0,
  state: { terminated: { exitCode, ...more } },
})
const restarted = (restartCount: number, finishedAt: string) => ({
  restartCount,
  lastState: { terminated: { exitCode: 1, finishedAt } },
})
const initialized = { conditions: [{ type: 'Initialized', status: 'True' }] }
const readyNow = { conditions: [{ type: 'Ready', status: 'True' }] }
const sidecar = { restartPolicy: 'Always' }

interface Case {
  readonly inits?: readonly object[]
  readonly initSpecs?: readonly object[]
  readonly containers?: readonly object[]
  readonly status?: object
  readonly metadata?: object
}

function podOf({ inits = [], initSpecs = inits.map(() => ({})), containers = [{}], status, metadata }: Case) {
  const statuses = (list: readonly object[], letter: string) =>
    list.map((each, index) => ({ name: `${letter}${index}`, image: 'i', imageID: '', restartCount: 0, ...each }))
  const specs = (list: readonly object[], letter: string) =>
    list.map((each, index) => ({ name: `${letter}${index}`, image: 'i', ...each }))
  return objectFrom(pod, {
    metadata: { name: 'x', ...metadata },
    spec: {
      containers: specs(
        containers.map(() => ({})),
        'c',
      ),
      initContainers: specs(initSpecs, 'i'),
    },
    status: {
      phase: 'Running',
      initContainerStatuses: statuses(inits, 'i'),
      containerStatuses: statuses(containers, 'c'),
      ...status,
    },
  })
}

const deleted = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const initWaits = waits('PodInitializing')

const rows: readonly (readonly [why: string, pod: Case, expected: readonly [string, string, string]])[] = [
  ['runs', { containers: [running] }, ['1/1', 'Running', '0']],
  ['just made', { containers: [], status: { phase: 'Pending' } }, ['0/0', 'Pending', '0']],
  ['evicted', { status: { phase: 'Failed', reason: 'Evicted' } }, ['0/1', 'Evicted', '0']],
  ['the first of two waiting containers', { containers: [waits('A'), waits('B')] }, ['0/2', 'A', '0']],
  ['terminated without a reason', { containers: [ended(3)] }, ['0/1', 'ExitCode:3', '0']],
  ['terminated by a signal', { containers: [ended(137, { signal: 9 })] }, ['0/1', 'Signal:9', '0']],
  [
    'one is done, another runs, and the pod is ready',
    { containers: [ended(0, { reason: 'Completed' }), running], status: readyNow },
    ['1/2', 'Running', '0'],
  ],
  [
    'one is done, another runs, and the pod is not ready',
    { containers: [ended(0, { reason: 'Completed' }), running] },
    ['1/2', 'NotReady', '0'],
  ],
  [
    'restarts with the newest end',
    {
      containers: [
        { ...running, ...restarted(2, '2030-01-01T00:00:55Z') },
        { ...running, ...restarted(1, '2030-01-01T00:00:30Z') },
      ],
    },
    ['2/2', 'Running', '3 (5s ago)'],
  ],
  ['restarts whose end is not known', { containers: [{ ...running, restartCount: 2 }] }, ['1/1', 'Running', '2']],
  [
    'the second of three init containers runs',
    { inits: [ended(0), { state: { running: {} } }, initWaits], containers: [initWaits], status: { phase: 'Pending' } },
    ['0/1', 'Init:1/3', '0'],
  ],
  [
    'an init container crashes: its restarts count',
    { inits: [{ ...waits('CrashLoopBackOff'), ...restarted(4, '2030-01-01T00:00:50Z') }], containers: [initWaits] },
    ['0/1', 'Init:CrashLoopBackOff', '4 (10s ago)'],
  ],
  ['an init container failed', { inits: [ended(1, { reason: 'Error' })] }, ['0/1', 'Init:Error', '0']],
  ['an init container failed without a reason', { inits: [ended(1)] }, ['0/1', 'Init:ExitCode:1', '0']],
  [
    'restarts of init containers that are done do not count',
    { inits: [{ ...ended(0), ...restarted(4, '2030-01-01T00:00:50Z') }], containers: [running] },
    ['1/1', 'Running', '0'],
  ],
  [
    'a sidecar counts with the containers',
    {
      inits: [{ ...running, ...restarted(1, '2030-01-01T00:00:50Z') }],
      initSpecs: [sidecar],
      containers: [running],
    },
    ['2/2', 'Running', '1 (10s ago)'],
  ],
  [
    'a sidecar that has not started blocks the pod',
    { inits: [{ state: { running: {} }, started: false }], initSpecs: [sidecar], containers: [initWaits] },
    ['0/2', 'Init:0/1', '0'],
  ],
  [
    'a sidecar crashes after the initialization of the pod',
    { inits: [waits('CrashLoopBackOff')], initSpecs: [sidecar], containers: [running], status: initialized },
    ['1/2', 'Init:CrashLoopBackOff', '0'],
  ],
  ['being deleted', { containers: [running], metadata: deleted }, ['1/1', 'Terminating', '0']],
  [
    'being deleted, on a lost node',
    { containers: [running], metadata: deleted, status: { reason: 'NodeLost' } },
    ['1/1', 'Unknown', '0'],
  ],
  [
    'being deleted, but done',
    { containers: [ended(0, { reason: 'Completed' })], metadata: deleted, status: { phase: 'Succeeded' } },
    ['0/1', 'Completed', '0'],
  ],
]

for (const [why, of, expected] of rows)
  test(`the table of pods: ${why}`, () => {
    const object = podOf(of)
    deepEqual([podReadyText(object), podStatusText(object), podRestartsText(object, nowMs)], expected)
  })

test('the table of pods: gates of scheduling and of readiness', () => {
  const gated = objectFrom(pod, {
    metadata: { name: 'x' },
    spec: { containers: [], readinessGates: [{ conditionType: 'a' }, { conditionType: 'b' }] },
    status: {
      conditions: [
        { type: 'a', status: 'True' },
        { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
      ],
    },
  })
  deepEqual([podStatusText(gated), podGatesText(gated), podGatesText(podOf({}))], ['SchedulingGated', '1/2', '<none>'])
})
