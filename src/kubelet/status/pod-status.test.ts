import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PodStatus } from '../../api/core/v1/pod/pod-status.ts'
import type { RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { aPod, container, failed, init, nowMs, sandbox, sidecar } from '../pod/pod-lifecycle.harness.ts'
import { podStatus, type StatusInput } from './pod-status.ts'

const status = (pod: Pod, running: RuntimePod | undefined, more: Partial<StatusInput> = {}): PodStatus =>
  podStatus({
    pod,
    running,
    waiting: new Map(),
    terminationMessages: new Map(),
    probeState: () => ({ isStarted: true, isReady: true }),
    termination: undefined,
    hostIp: '192.0.2.1',
    runtimeName: 'test',
    nowMs,
    ...more,
  })
const conditionOf = ({ conditions }: PodStatus, type: string) => conditions?.find((one) => one.type === type)
const two = {
  containers: [
    { name: 'c', image: 'i' },
    { name: 'd', image: 'i' },
  ],
}
const never = { restartPolicy: 'Never' }
const deleted = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const reported = (name: string, state: object, lastState: object = {}) => ({
  containerStatuses: [{ name, state, lastState, ready: true, restartCount: 4, image: '', imageID: '' }],
})
const lost = { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } }

const phases: [why: string, pod: Pod, running: RuntimePod | undefined, phase: string, ready: string, state: string][] =
  [
    ['nothing runs yet', aPod(), undefined, 'Pending', 'False ContainersNotReady', 'waiting ContainerCreating'],
    ['all run', aPod(), sandbox(container('c', 'running')), 'Running', 'True', 'running'],
    [
      'created but not started',
      aPod(),
      sandbox(container('c', 'created')),
      'Pending',
      'False ContainersNotReady',
      'waiting ContainerCreating',
    ],
    [
      'will be restarted',
      aPod(),
      sandbox(container('c', 'exited', failed)),
      'Running',
      'False ContainersNotReady',
      'terminated Error',
    ],
    [
      'succeeded',
      aPod(never),
      sandbox(container('c', 'exited')),
      'Succeeded',
      'False PodCompleted',
      'terminated Completed',
    ],
    ['failed', aPod(never), sandbox(container('c', 'exited', failed)), 'Failed', 'False PodFailed', 'terminated Error'],
    [
      'one of two runs',
      aPod(two),
      sandbox(container('c', 'running'), container('d', 'created')),
      'Pending',
      'False ContainersNotReady',
      'running',
    ],
    [
      'init still runs',
      aPod(init),
      sandbox(container('i1', 'running')),
      'Pending',
      'False ContainersNotReady',
      'waiting PodInitializing',
    ],
    [
      'init failed for good',
      aPod({ ...init, ...never }),
      sandbox(container('i1', 'exited', failed)),
      'Failed',
      'False PodFailed',
      'waiting PodInitializing',
    ],
    [
      'a sidecar still runs',
      aPod({ ...sidecar, ...never }),
      sandbox(container('s', 'running'), container('c', 'exited')),
      'Running',
      'False ContainersNotReady',
      'terminated Completed',
    ],
    [
      'all have exited',
      aPod({ ...sidecar, ...never }),
      sandbox(container('s', 'exited', failed), container('c', 'exited')),
      'Succeeded',
      'False PodCompleted',
      'terminated Completed',
    ],
    [
      'the runtime lost it',
      aPod({}, reported('c', { running: {} })),
      sandbox(),
      'Running',
      'False ContainersNotReady',
      'waiting ContainerCreating',
    ],
    [
      'the runtime lost what had ended',
      aPod({}, reported('c', { terminated: { exitCode: 0 } })),
      undefined,
      'Running',
      'False ContainersNotReady',
      'terminated ',
    ],
    [
      'lost for good',
      aPod(never, reported('c', { running: {} })),
      undefined,
      'Failed',
      'False PodFailed',
      'terminated ContainerStatusUnknown',
    ],
    [
      'lost for good, as left by a kubelet without this rule',
      aPod(never, { phase: 'Failed', ...reported('c', { waiting: { reason: 'ContainerCreating' } }, lost) }),
      undefined,
      'Failed',
      'False PodFailed',
      'terminated ContainerStatusUnknown',
    ],
    [
      'deleted before it was initialized',
      aPod(init, {}, deleted),
      undefined,
      'Failed',
      'False PodFailed',
      'waiting PodInitializing',
    ],
    [
      'being deleted, still running',
      aPod({}, {}, deleted),
      sandbox(container('c', 'running')),
      'Running',
      'True',
      'running',
    ],
    [
      'deleted, exited with 0',
      aPod({}, {}, deleted),
      sandbox(container('c', 'exited')),
      'Succeeded',
      'False PodCompleted',
      'terminated Completed',
    ],
    [
      'deleted, exited with an error',
      aPod({}, {}, deleted),
      sandbox(container('c', 'exited', failed)),
      'Failed',
      'False PodFailed',
      'terminated Error',
    ],
    [
      'deleted before it ran',
      aPod({}, {}, deleted),
      undefined,
      'Failed',
      'False PodFailed',
      'terminated ContainerStatusUnknown',
    ],
    [
      'a final phase does not change',
      aPod({}, { phase: 'Failed' }),
      sandbox(container('c', 'running')),
      'Failed',
      'False PodFailed',
      'running',
    ],
  ]
for (const [why, pod, running, phase, ready, state] of phases)
  test(`status: ${why}`, () => {
    const seen = status(pod, running)
    const { waiting, terminated } = seen.containerStatuses?.[0]?.state ?? {}
    const shown =
      waiting !== undefined
        ? `waiting ${waiting.reason ?? ''}`
        : terminated !== undefined
          ? `terminated ${terminated.reason ?? ''}`
          : 'running'
    const { status: value, reason: why2 } = conditionOf(seen, 'Ready') ?? {}
    deepEqual([seen.phase, [value, why2].filter((part) => part !== undefined).join(' '), shown], [phase, ready, state])
  })

test('status: conditions keep their transition times while their status is unchanged', () => {
  const first = status(aPod(), sandbox(container('c', 'running')))
  const later = status(aPod({}, first), sandbox(container('c', 'running')), { nowMs: nowMs + 60_000 })
  deepEqual(later, first)
  const waiting = new Map([['c', { reason: 'CrashLoopBackOff', message: 'm' }]])
  const broken = status(aPod({}, first), sandbox(container('c', 'exited', failed)), { waiting, nowMs: nowMs + 60_000 })
  deepEqual(
    [
      conditionOf(broken, 'Ready')?.lastTransitionTime,
      broken.containerStatuses?.[0]?.state,
      broken.containerStatuses?.[0]?.lastState?.terminated?.exitCode,
    ],
    ['2030-01-01T00:01:00Z', { waiting: { reason: 'CrashLoopBackOff', message: 'm' } }, 1],
  )
  equal(conditionOf(broken, 'Ready')?.observedGeneration, 1)
})

test('status: the exit of a container is kept when the runtime has removed or lost it', () => {
  const terminated = { exitCode: 7, reason: 'Error', containerID: 'x' }
  const restarted = status(aPod({}, reported('c', { terminated })), sandbox(container('c', 'running', { attempt: 5 })))
    .containerStatuses?.[0]
  deepEqual([restarted?.restartCount, restarted?.lastState?.terminated?.exitCode], [5, 7])
  const unknown = status(aPod({}, reported('c', { running: {} })), sandbox()).containerStatuses?.[0]
  deepEqual([unknown?.restartCount, unknown?.lastState?.terminated?.reason], [4, 'ContainerStatusUnknown'])
  const again = status(aPod({}, { containerStatuses: [unknown] }), sandbox()).containerStatuses?.[0]
  deepEqual([again?.restartCount, again?.lastState?.terminated?.reason], [4, 'ContainerStatusUnknown'])
})

test('status: a sidecar that the runtime lost has terminated with its pod', () => {
  const one = { ready: true, restartCount: 0, image: '', imageID: '', lastState: {} }
  const before = {
    initContainerStatuses: [{ name: 's', state: { running: {} }, ...one }],
    containerStatuses: [{ name: 'c', state: { running: {} }, ...one }],
  }
  const seen = status(aPod({ ...sidecar, ...never }, before), undefined)
  equal(seen.phase, 'Failed')
  for (const { state } of [...(seen.initContainerStatuses ?? []), ...(seen.containerStatuses ?? [])])
    equal(state?.terminated?.reason, 'ContainerStatusUnknown')
})

test('status: started and ready follow the probes; readiness gates must be True, too', () => {
  const running = sandbox(container('c', 'running'))
  const unready = status(aPod(), running, { probeState: () => ({ isStarted: true, isReady: false }) })
  const [one] = unready.containerStatuses ?? []
  deepEqual([one?.started, one?.ready], [true, false])
  equal(conditionOf(unready, 'ContainersReady')?.message, 'containers with unready status: [c]')
  const gated = (conditions: object[]) =>
    conditionOf(status(aPod({ readinessGates: [{ conditionType: 'x/y' }] }, { conditions }), running), 'Ready')
  equal(gated([])?.message, 'corresponding condition of pod readiness gate "x/y" does not exist.')
  equal(
    gated([{ type: 'x/y', status: 'False' }])?.message,
    'the status of pod readiness gate "x/y" is not "True", but False',
  )
  deepEqual(gated([{ type: 'x/y', status: 'True' }])?.status, 'True')
})

test('status: init containers are ready when completed, sidecars when ready; until then the pod is not initialized', () => {
  const slow = { probeState: () => ({ isStarted: false, isReady: false }) }
  const waiting = status(aPod(sidecar), sandbox(container('s', 'running')), slow)
  equal(conditionOf(waiting, 'Initialized')?.message, 'containers with incomplete status: [s]')
  const first = status(aPod(init), sandbox(container('i1', 'exited'), container('i2', 'running')))
  deepEqual(
    first.initContainerStatuses?.map(({ ready, started }) => [ready, started]),
    [
      [true, false],
      [false, true],
    ],
  )
  equal(conditionOf(first, 'Initialized')?.message, 'containers with incomplete status: [i2]')
})

test('status: a termination by the node is reported when no container runs any more', () => {
  const verdict = { reason: 'DeadlineExceeded', message: 'm' }
  const first = status(aPod(), sandbox(container('c', 'running')), { termination: verdict })
  deepEqual([first.phase, first.reason], ['Running', undefined])
  const last = status(aPod(), sandbox(container('c', 'exited')), { termination: verdict })
  deepEqual([last.phase, last.reason, last.message], ['Failed', 'DeadlineExceeded', 'm'])
})

test('status: a rejected pod shows the observed generation and only the conditions of other clients', () => {
  const conditions = [
    { type: 'PodScheduled', status: 'True' },
    { type: 'x/y', status: 'True' },
  ]
  const rejected = (metadata: object) => {
    const termination = { reason: 'OutOfcpu', message: 'm', isRejection: true }
    return status(aPod({}, { conditions }, metadata), undefined, { termination })
  }
  const { phase, reason, message, observedGeneration, conditions: kept } = rejected({ generation: 3 })
  deepEqual([phase, reason, message, observedGeneration], ['Failed', 'OutOfcpu', 'Pod was rejected: m', 3])
  deepEqual(
    kept?.map(({ type }) => type),
    ['x/y'],
  )
  equal(rejected({ generation: undefined }).observedGeneration, undefined, 'a pod from a manifest has no generation')
})

test('status: PodReadyToStartContainers requires a ready sandbox', () => {
  const value = (running: RuntimePod | undefined) =>
    conditionOf(status(aPod(), running), 'PodReadyToStartContainers')?.status
  deepEqual([value(undefined), value({ ...sandbox(), isReady: false }), value(sandbox())], ['False', 'False', 'True'])
})

test('recursiveReadOnly in the status is what the runtime reports, not what was requested', () => {
  const volumeMounts = [
    { name: 'v', mountPath: '/a', readOnly: true, recursiveReadOnly: 'IfPossible' },
    { name: 'v', mountPath: '/b', readOnly: true, recursiveReadOnly: 'IfPossible' },
  ]
  const pod = aPod({ containers: [{ name: 'c', image: 'i', volumeMounts }] })
  const modes = (recursivelyReadOnly?: readonly string[]) => {
    const seen = { ...container('c', 'running'), ...(recursivelyReadOnly === undefined ? {} : { recursivelyReadOnly }) }
    return status(pod, sandbox(seen)).containerStatuses?.[0]?.volumeMounts?.map((one) => one.recursiveReadOnly)
  }
  deepEqual(
    [modes(['/a']), modes([]), modes()],
    [
      ['Enabled', 'Disabled'],
      ['Disabled', 'Disabled'],
      ['Enabled', 'Enabled'],
    ],
  )
})
