import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { planTermination, planCompletion, planRun, type ContainerHealth, type PodAction } from './pod-actions.ts'
import { aPod, container, failed, init, nowMs, sandbox, sidecar } from './pod-lifecycle.harness.ts'
import { crashBackoffRemainingMs, shouldRestart, nextCrashBackoff, type CrashBackoff } from './restart-policy.ts'

const texts = (actions: PodAction[]): string[] =>
  actions.map((action) => {
    switch (action.kind) {
      case 'start-container':
        return `start ${action.container.name} #${action.attempt}${action.targetId ? ` into ${action.targetId}` : ''}`
      case 'stop-containers':
        return action.stops
          .map(({ container: { name }, graceSeconds, after, message }) =>
            [`stop ${name} in ${graceSeconds}`, ...after.map((one) => `after ${one}`), `(${message})`].join(' '),
          )
          .join('; ')
      case 'remove-container':
        return `remove ${action.container.name}`
      case 'wait':
        return `wait ${action.ms} for ${action.container}`
      case 'run-sandbox':
      case 'stop-sandbox':
      case 'remove-sandbox':
      case 'release-pod':
        return action.kind
      default:
        return action satisfies never
    }
  })

const well: ContainerHealth = { isStarted: () => true, failedProbe: () => undefined }
const slow: ContainerHealth = { ...well, isStarted: () => false }
const dead: ContainerHealth = { ...well, failedProbe: () => 'liveness' }
const stuck: ContainerHealth = { ...well, failedProbe: () => 'startup' }
const never = { restartPolicy: 'Never' }
const onFailure = { restartPolicy: 'OnFailure' }
const broken = (...containers: Parameters<typeof sandbox>): RuntimePod => ({
  ...sandbox(...containers),
  isReady: false,
})
const reported = (name: string, state: object) => ({
  containerStatuses: [{ name, state, ready: false, restartCount: 4, image: '', imageID: '' }],
})
const twoSidecars = {
  initContainers: [
    { name: 's1', image: 'i', restartPolicy: 'Always' },
    { name: 's2', image: 'i', restartPolicy: 'Always' },
  ],
}
const rules = (operator: string) => ({
  containers: [
    {
      name: 'c',
      image: 'i',
      restartPolicy: 'Never',
      restartPolicyRules: [{ action: 'Restart', exitCodes: { operator, values: [42] } }],
    },
  ],
  ...never,
})
const probe = { tcpSocket: { port: 1 }, terminationGracePeriodSeconds: 5 }
const probed = (policy: object = {}) => ({
  containers: [{ name: 'c', image: 'i', livenessProbe: probe, startupProbe: { tcpSocket: { port: 1 } } }],
  ...policy,
})
const debug = { ephemeralContainers: [{ name: 'd', image: 'i', targetContainerName: 'c' }] }

const runs: [why: string, pod: Pod, running: RuntimePod | undefined, actions: string[], health?: ContainerHealth][] = [
  ['a new pod gets a sandbox', aPod(), undefined, ['run-sandbox']],
  ['containers start in the sandbox', aPod(), sandbox(), ['start c #0']],
  [
    'a container that was created and never started is created again',
    aPod(),
    sandbox(container('c', 'created')),
    ['remove c'],
  ],
  ['running containers are not affected', aPod(), sandbox(container('c', 'running')), []],
  ['the first restart is immediate', aPod(), sandbox(container('c', 'exited', failed)), ['start c #1']],
  ['Always restarts after success', aPod(), sandbox(container('c', 'exited')), ['start c #1']],
  ['OnFailure does not restart after success', aPod(onFailure), sandbox(container('c', 'exited')), ['stop-sandbox']],
  ['OnFailure restarts after failure', aPod(onFailure), sandbox(container('c', 'exited', failed)), ['start c #1']],
  ['Never restarts nothing', aPod(never), sandbox(container('c', 'exited', failed)), ['stop-sandbox']],
  [
    'a rule matches the exit code',
    aPod(rules('In')),
    sandbox(container('c', 'exited', { exitCode: 42 })),
    ['start c #1'],
  ],
  [
    'a rule with other exit codes',
    aPod(rules('In')),
    sandbox(container('c', 'exited', { exitCode: 1 })),
    ['stop-sandbox'],
  ],
  ['a rule excludes it', aPod(rules('NotIn')), sandbox(container('c', 'exited', { exitCode: 42 })), ['stop-sandbox']],

  [
    'only the last two attempts are kept',
    aPod(),
    sandbox(container('c', 'exited'), container('c', 'exited'), container('c', 'running')),
    ['remove c'],
  ],
  [
    'a sandbox that is not ready stops its containers',
    aPod(),
    broken(container('c', 'running')),
    ['stop c in 30 (Stopping container c)'],
  ],
  [
    'a sandbox that is not ready removes containers that never started',
    aPod(),
    broken(container('c', 'created')),
    ['remove c'],
  ],
  ['then the sandbox is removed', aPod(), broken(container('c', 'exited')), ['remove-sandbox']],
  ['a sandbox that is not ready is kept when the pod has finished', aPod(never), broken(container('c', 'exited')), []],
  ['attempts in a lost sandbox count', aPod({}, reported('c', { running: {} })), sandbox(), ['start c #5']],
  [
    'a completed container of a lost sandbox is not run again',
    aPod(onFailure, reported('c', { terminated: { exitCode: 0 } })),
    undefined,
    [],
  ],
  ['a lost container counts as failed', aPod(never, reported('c', { running: {} })), undefined, []],

  ['init containers start first, one by one', aPod(init), sandbox(), ['start i1 #0']],
  ['the next one waits for the previous one', aPod(init), sandbox(container('i1', 'running')), []],
  ['then the next', aPod(init), sandbox(container('i1', 'exited')), ['start i2 #0']],
  ['a failed init container is retried', aPod(init), sandbox(container('i1', 'exited', failed)), ['start i1 #1']],
  ['but not with Never', aPod({ ...init, ...never }), sandbox(container('i1', 'exited', failed)), ['stop-sandbox']],
  [
    'then the main containers',
    aPod(init),
    sandbox(container('i1', 'exited'), container('i2', 'exited')),
    ['start c #0'],
  ],
  ['removed init containers are not run again', aPod(init), sandbox(container('c', 'running')), []],

  ['a sidecar runs beside the main containers', aPod(sidecar), sandbox(container('s', 'running')), ['start c #0']],
  ['a sidecar must have started', aPod(sidecar), sandbox(container('s', 'running')), [], slow],
  [
    'a sidecar is restarted',
    aPod(sidecar),
    sandbox(container('s', 'exited'), container('c', 'running')),
    ['start s #1'],
  ],
  [
    'a sidecar stops with the pod',
    aPod({ ...sidecar, ...never }),
    sandbox(container('s', 'running'), container('c', 'exited')),
    ['stop s in 30 (Stopping container s)'],
  ],

  [
    'a failed liveness probe',
    aPod(probed()),
    sandbox(container('c', 'running')),
    ['stop c in 5 (Container c failed liveness probe, will be restarted)'],
    dead,
  ],
  [
    'for good, with Never',
    aPod(probed(never)),
    sandbox(container('c', 'running')),
    ['stop c in 5 (Container c failed liveness probe)'],
    dead,
  ],
  [
    'a failed startup probe',
    aPod(probed()),
    sandbox(container('c', 'running')),
    ['stop c in 30 (Container c failed startup probe, will be restarted)'],
    stuck,
  ],
  [
    'a changed image',
    aPod(),
    sandbox(container('c', 'running', { image: 'old' })),
    ['stop c in 30 (Container c definition changed, will be restarted)'],
  ],

  ['an ephemeral container with a target', aPod(debug), sandbox(container('c', 'running')), ['start d #0 into c-id']],
  ['it is not started twice', aPod(debug), sandbox(container('c', 'running'), container('d', 'exited', failed)), []],
]
for (const [why, pod, running, wanted, health = well] of runs)
  test(`run: ${why}`, () =>
    deepEqual(texts(planRun({ pod, running, crashBackoffs: new Map(), health, nowMs })), wanted))

test('run: a second crash waits for its backoff', () => {
  const crashBackoffs = new Map([['c', { image: 'i', waitMs: 10_000, sinceMs: nowMs - 60_000 }]])
  const input = { pod: aPod(), crashBackoffs, health: well, nowMs }
  deepEqual(texts(planRun({ ...input, running: sandbox(container('c', 'exited', failed)) })), ['wait 9000 for c'])
  const running = sandbox(container('c', 'exited', { finishedMs: nowMs - 10_000, attempt: 1 }))
  deepEqual(texts(planRun({ ...input, running })), ['start c #2'])
  const other = aPod({ containers: [{ name: 'c', image: 'other' }] })
  const crashed = sandbox(container('c', 'exited', failed))
  deepEqual(texts(planRun({ ...input, pod: other, running: crashed })), ['start c #1'], 'another image')
})

test('termination: containers are stopped, sidecars last in reverse order, then the sandbox and the object are removed', () => {
  const pod = aPod(twoSidecars)
  const running = sandbox(container('s1', 'running'), container('s2', 'running'), container('c', 'running'))
  deepEqual(texts(planTermination(pod, running, 30, true)), [
    'stop s1 in 30 after c after s2 (Stopping container s1); stop s2 in 30 after c (Stopping container s2); stop c in 30 (Stopping container c)',
  ])
  deepEqual(texts(planTermination(pod, sandbox(container('c', 'exited')), 30, true)), ['remove-sandbox'])
  deepEqual(texts(planTermination(pod, undefined, 30, true)), ['release-pod'])
  deepEqual(texts(planTermination(undefined, undefined, 1, false)), [])
  deepEqual(texts(planTermination(undefined, sandbox(container('c', 'running')), 1, false)), [
    'stop c in 1 (Stopping container c)',
  ])
})

test('termination: a container that was created and never started is removed, not stopped', () => {
  const running = sandbox(container('a', 'created'), container('b', 'running'), container('c', 'exited'))
  const wanted = ['remove a', 'stop b in 30 (Stopping container b)']
  deepEqual(texts(planTermination(aPod(), running, 30, true)), wanted)
  deepEqual(texts(planCompletion(aPod(), running, 30)), wanted)
})

test('completion: exited containers are kept for inspection', () => {
  deepEqual(texts(planCompletion(aPod(), sandbox(container('c', 'exited')))), ['stop-sandbox'])
  deepEqual(texts(planCompletion(aPod(), broken(container('c', 'exited')))), [])
})

test('the crash backoff doubles from ten seconds to five minutes and is reset after a run of ten minutes', () => {
  const waits: number[] = []
  let backoff: CrashBackoff | undefined
  for (let crash = 0; crash < 8; crash++) {
    waits.push(crashBackoffRemainingMs(backoff, nowMs, nowMs) / 1000)
    backoff = nextCrashBackoff(backoff, { image: 'i' }, nowMs, nowMs)
  }
  deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300])
  equal(crashBackoffRemainingMs(backoff, nowMs + 600_001, nowMs + 600_001), 0)
  equal(nextCrashBackoff(backoff, { image: 'i' }, nowMs + 600_001, nowMs + 600_001).waitMs, 10_000)
})

test('a container’s restart policy overrides the pod’s', () => {
  const { spec } = aPod(never)
  deepEqual([shouldRestart({}, spec, 1), shouldRestart({ restartPolicy: 'OnFailure' }, spec, 1)], [false, true])
})
