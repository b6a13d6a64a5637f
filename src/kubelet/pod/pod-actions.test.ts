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
const told = (name: string, state: object) => ({
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
  ['then its containers', aPod(), sandbox(), ['start c #0']],
  ['what was made but never started is made anew', aPod(), sandbox(container('c', 'created')), ['remove c']],
  ['what runs is left alone', aPod(), sandbox(container('c', 'running')), []],
  ['a first crash is forgiven at once', aPod(), sandbox(container('c', 'exited', failed)), ['start c #1']],
  ['a success is restarted too', aPod(), sandbox(container('c', 'exited')), ['start c #1']],
  ['OnFailure leaves a success', aPod(onFailure), sandbox(container('c', 'exited')), ['stop-sandbox']],
  ['OnFailure restarts a failure', aPod(onFailure), sandbox(container('c', 'exited', failed)), ['start c #1']],
  ['Never restarts nothing', aPod(never), sandbox(container('c', 'exited', failed)), ['stop-sandbox']],
  [
    'a rule names the exit code',
    aPod(rules('In')),
    sandbox(container('c', 'exited', { exitCode: 42 })),
    ['start c #1'],
  ],
  ['a rule names others', aPod(rules('In')), sandbox(container('c', 'exited', { exitCode: 1 })), ['stop-sandbox']],
  ['a rule excludes it', aPod(rules('NotIn')), sandbox(container('c', 'exited', { exitCode: 42 })), ['stop-sandbox']],

  [
    'only the last two starts are kept',
    aPod(),
    sandbox(container('c', 'exited'), container('c', 'exited'), container('c', 'running')),
    ['remove c'],
  ],
  [
    'a broken sandbox ends what runs in it',
    aPod(),
    broken(container('c', 'running')),
    ['stop c in 30 (Stopping container c)'],
  ],
  ['a broken sandbox loses what never started', aPod(), broken(container('c', 'created')), ['remove c']],
  ['then it goes', aPod(), broken(container('c', 'exited')), ['remove-sandbox']],
  ['a broken sandbox with nothing left to do stays', aPod(never), broken(container('c', 'exited')), []],
  ['what ran in a sandbox that is gone is counted', aPod({}, told('c', { running: {} })), sandbox(), ['start c #5']],
  [
    'what ended in a sandbox that is gone is not run again',
    aPod(onFailure, told('c', { terminated: { exitCode: 0 } })),
    undefined,
    [],
  ],
  ['what was lost has failed', aPod(never, told('c', { running: {} })), undefined, []],

  ['init containers come first, one by one', aPod(init), sandbox(), ['start i1 #0']],
  ['the next waits for the one before', aPod(init), sandbox(container('i1', 'running')), []],
  ['then the next', aPod(init), sandbox(container('i1', 'exited')), ['start i2 #0']],
  ['a failed one is tried again', aPod(init), sandbox(container('i1', 'exited', failed)), ['start i1 #1']],
  ['but not with Never', aPod({ ...init, ...never }), sandbox(container('i1', 'exited', failed)), ['stop-sandbox']],
  ['at last the containers', aPod(init), sandbox(container('i1', 'exited'), container('i2', 'exited')), ['start c #0']],
  ['removed ones are not run again', aPod(init), sandbox(container('c', 'running')), []],

  ['a sidecar runs beside', aPod(sidecar), sandbox(container('s', 'running')), ['start c #0']],
  ['a sidecar must have come up', aPod(sidecar), sandbox(container('s', 'running')), [], slow],
  ['a sidecar comes back', aPod(sidecar), sandbox(container('s', 'exited'), container('c', 'running')), ['start s #1']],
  [
    'a sidecar ends with the pod',
    aPod({ ...sidecar, ...never }),
    sandbox(container('s', 'running'), container('c', 'exited')),
    ['stop s in 30 (Stopping container s)'],
  ],

  [
    'a probe gave it up',
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
    'it never came up',
    aPod(probed()),
    sandbox(container('c', 'running')),
    ['stop c in 30 (Container c failed startup probe, will be restarted)'],
    stuck,
  ],
  [
    'another image is wanted',
    aPod(),
    sandbox(container('c', 'running', { image: 'old' })),
    ['stop c in 30 (Container c definition changed, will be restarted)'],
  ],

  [
    'an ephemeral container looks at another',
    aPod(debug),
    sandbox(container('c', 'running')),
    ['start d #0 into c-id'],
  ],
  ['it is not started twice', aPod(debug), sandbox(container('c', 'running'), container('d', 'exited', failed)), []],
]
for (const [why, pod, running, wanted, health = well] of runs)
  test(`run: ${why}`, () =>
    deepEqual(texts(planRun({ pod, running, crashBackoffs: new Map(), health, nowMs })), wanted))

test('run: a second crash waits for its backoff', () => {
  const crashBackoffs = new Map([['c', { waitMs: 10_000, sinceMs: nowMs - 60_000 }]])
  const input = { pod: aPod(), crashBackoffs, health: well, nowMs }
  deepEqual(texts(planRun({ ...input, running: sandbox(container('c', 'exited', failed)) })), ['wait 9000 for c'])
  const running = sandbox(container('c', 'exited', { finishedMs: nowMs - 10_000, attempt: 1 }))
  deepEqual(texts(planRun({ ...input, running })), ['start c #2'])
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
    backoff = nextCrashBackoff(backoff, nowMs, nowMs)
  }
  deepEqual(waits, [0, 10, 20, 40, 80, 160, 300, 300])
  equal(crashBackoffRemainingMs(backoff, nowMs + 600_001, nowMs + 600_001), 0)
  equal(nextCrashBackoff(backoff, nowMs + 600_001, nowMs + 600_001).waitMs, 10_000)
})

test('a container’s restart policy overrides the pod’s', () => {
  const { spec } = aPod(never)
  deepEqual([shouldRestart({}, spec, 1), shouldRestart({ restartPolicy: 'OnFailure' }, spec, 1)], [false, true])
})
