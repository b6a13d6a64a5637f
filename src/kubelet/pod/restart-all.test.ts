import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { podCondition } from '../../api/core/v1/pod/pod-readiness.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { serveUntilTerminated } from '../../machine/runtime/simulated-runtime.ts'
import { planRun } from './pod-actions.ts'
import { aPod, container, nowMs, sandbox } from './pod-lifecycle.harness.ts'

const ctx = context(new AbortController().signal)
const restartPolicyRules = [
  { action: 'Restart', exitCodes: { operator: 'In', values: [41] } },
  { action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [41, 42] } },
]
const trigger = { name: 't', image: 'i', restartPolicy: 'Never', restartPolicyRules }
const spec = {
  restartPolicy: 'Never',
  initContainers: [{ name: 'i', image: 'i' }],
  containers: [{ name: 'c', image: 'i' }, trigger],
}
const exit = (name: string, exitCode: number, more: Partial<RuntimeContainer> = {}) =>
  container(name, 'exited', { exitCode, ...more })
const again = (name: string, state: RuntimeContainer['state']) =>
  container(name, state, { id: `${name}-2`, attempt: 1, startedMs: nowMs, finishedMs: nowMs })

const steps: [why: string, running: RuntimePod, actions: string[]][] = [
  [
    'running containers are stopped immediately',
    sandbox(exit('i', 0), container('c', 'running'), exit('t', 42)),
    ['stop-containers c'],
  ],
  [
    'also those that started for the first time while the other one exited',
    sandbox(exit('i', 0), container('c', 'running', { startedMs: nowMs + 1 }), exit('t', 42, { finishedMs: nowMs })),
    ['stop-containers c'],
  ],
  ['the first matching rule decides', sandbox(exit('i', 0), container('c', 'running'), exit('t', 41)), ['start t #1']],
  ['init containers run again', sandbox(exit('i', 0), exit('c', 137), exit('t', 42)), ['start i #1']],
  [
    'a container that was created and never started is created again',
    sandbox(exit('i', 0), exit('c', 137), exit('t', 42), container('i', 'created', { startedMs: 0 })),
    ['remove-container'],
  ],
  ['one by one', sandbox(exit('i', 0), exit('c', 0), exit('t', 42), again('i', 'running')), []],
  [
    'then the main containers, including those that had succeeded',
    sandbox(exit('i', 0), exit('c', 0), exit('t', 42), again('i', 'exited')),
    ['start c #1', 'start t #1'],
  ],
  [
    'containers that have started since are not affected',
    sandbox(
      exit('i', 0),
      exit('c', 137),
      exit('t', 42),
      again('i', 'exited'),
      again('c', 'running'),
      again('t', 'running'),
    ),
    [],
  ],
  [
    'without another trigger the restart policy decides',
    sandbox(
      exit('i', 0),
      exit('c', 0),
      exit('t', 42),
      again('i', 'exited'),
      again('c', 'exited'),
      again('t', 'exited'),
    ),
    ['stop-sandbox'],
  ],
]
for (const [why, running, wanted] of steps)
  test(`RestartAllContainers: ${why}`, () => {
    const health = { isStarted: () => true, failedProbe: () => undefined }
    const actions = planRun({ pod: aPod(spec), running, crashBackoffs: new Map(), health, nowMs })
    deepEqual(
      actions.map((action) => {
        if (action.kind === 'start-container') return `start ${action.container.name} #${action.attempt}`
        if (action.kind !== 'stop-containers') return action.kind
        ok(action.stops.every(({ graceSeconds }) => graceSeconds === 0))
        return `stop-containers ${action.stops.map((stop) => stop.container.name).join()}`
      }),
      wanted,
    )
  })

test('a pod whose containers are all restarted keeps its sandbox and phase, and has a condition meanwhile', async () => {
  let exits = 0
  await using cluster = await startCluster({
    simulation: {
      images: {
        setup: () => Promise.resolve(0),
        web: async (process) => {
          const code = await serveUntilTerminated(process)
          await process.clock.sleep(1_000, ctx.signal)
          return code
        },
        // The first run requests a restart of all containers, the second one serves.
        watcher: async (process) => {
          if (++exits > 1) return serveUntilTerminated(process)
          await process.clock.sleep(5_000, process.terminated)
          return 42
        },
      },
    },
  })
  const pods = cluster.client.of(pod)
  const body = {
    restartPolicy: 'Never',
    initContainers: [{ name: 'i', image: 'setup' }],
    containers: [
      { name: 'c', image: 'web' },
      { ...trigger, image: 'watcher' },
    ],
  } as const
  await pods.create({ metadata: { name: 'p' }, spec: body }, 'default', ctx)
  const read = () => pods.get('p', 'default', ctx)
  await cluster.clock.advance('4s')
  const before = await read()
  const restarting = 'AllContainersRestarting'
  equal(podCondition(before, restarting)?.status, 'False')
  const reasons: string[] = []
  for (let look = 0; look < 100; look++) {
    await cluster.clock.advance('50ms')
    reasons.push(podCondition(await read(), restarting)?.reason ?? '')
  }
  ok(reasons.includes('RestartAllContainersStarted'))
  const after = await read()
  const restarts = ({ status }: Pod) =>
    [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])].map((one) => one.restartCount)
  deepEqual(
    [restarts(before), restarts(after), after.status.phase, podCondition(after, restarting)?.status],
    [[0, 0, 0], [1, 1, 1], 'Running', 'False'],
  )
  equal(after.status.podIP, before.status.podIP)
})
