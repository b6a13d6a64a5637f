// What to do for a pod and what to say of it, as tables; then pods that crash, finish, wait for images and end.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/context.ts'
import { FlowRecorder } from '../base/flow.ts'
import { silentLog } from '../base/log.ts'
import { seededRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { lease } from '../api/coordination/v1/lease.ts'
import { event } from '../api/core/v1/event.ts'
import { node } from '../api/core/v1/node.ts'
import { pod, type Pod, type PodInput } from '../api/core/v1/pod.ts'
import { simulatedHost } from '../cluster/simulated-host.ts'
import { startCluster } from '../cluster/start-cluster.ts'
import type { RuntimeContainer, RuntimePod } from '../machine/runtime/runtime.ts'
import { SimulatedRuntime, type SimulatedProgram } from '../machine/runtime/simulated.ts'
import { decode } from '../schema/decode.ts'
import { withDefaults } from '../schema/defaults.ts'
import { Kubelet } from './kubelet.ts'
import { nodeObject } from './node-status.ts'
import { endPod, runPod, type PodAction } from './pod-actions.ts'
import { podStatus } from './pod-status.ts'

const ctx = context(new AbortController().signal)
const nowMs = Date.UTC(2030, 0, 1)

const aPod = (spec: object = {}, status: object = {}): Pod => {
  const body = {
    metadata: { name: 'p', namespace: 'default', uid: 'u', generation: 1 },
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName: 'n', ...spec },
    status,
  }
  return pod.applyDefaults(withDefaults(pod.message, decode(pod.message, body).value as unknown as Pod))
}

const container = (
  name: string,
  state: RuntimeContainer['state'],
  more: Partial<RuntimeContainer> = {},
): RuntimeContainer => ({
  id: `${name}-id`,
  name,
  image: 'i',
  imageId: 'id',
  attempt: 0,
  state,
  startedMs: nowMs - 60_000,
  finishedMs: nowMs - 1000,
  exitCode: 0,
  reason: '',
  message: '',
  logPath: '',
  ...more,
})
const sandbox = (...containers: RuntimeContainer[]): RuntimePod => ({
  podUid: 'u',
  namespace: 'default',
  name: 'p',
  sandboxId: 's',
  attempt: 0,
  isReady: true,
  ips: ['10.0.0.1'],
  containers,
})

const shown = (actions: PodAction[]): string[] =>
  actions.map((action) => {
    switch (action.kind) {
      case 'start-container':
        return `start ${action.container.name} #${action.attempt}`
      case 'stop-container':
        return `stop ${action.container.name} in ${action.graceMs}`
      case 'remove-container':
        return `remove ${action.container.name}`
      case 'wait':
        return `wait ${action.ms} for ${action.container}`
      case 'run-sandbox':
      case 'remove-sandbox':
      case 'release-pod':
        return action.kind
      default:
        return action satisfies never
    }
  })

const init = {
  initContainers: [
    { name: 'i1', image: 'i' },
    { name: 'i2', image: 'i' },
  ],
}
const sidecar = { initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }] }
const failed = { exitCode: 1 }
const actions: [why: string, pod: Pod, running: RuntimePod | undefined, actions: string[]][] = [
  ['a new pod gets a sandbox', aPod(), undefined, ['run-sandbox']],
  ['a broken sandbox goes', aPod(), { ...sandbox(), isReady: false }, ['remove-sandbox']],
  ['then its containers', aPod(), sandbox(), ['start c #0']],
  ['what was made but never started is made anew', aPod(), sandbox(container('c', 'created')), ['remove c']],
  ['what runs is left alone', aPod(), sandbox(container('c', 'running')), []],
  ['a crash waits out its back-off', aPod(), sandbox(container('c', 'exited', failed)), ['wait 9000 for c']],
  [
    'a second crash waits twice as long',
    aPod(),
    sandbox(container('c', 'exited', { ...failed, attempt: 1 })),
    ['wait 19000 for c'],
  ],
  ['then it starts again', aPod(), sandbox(container('c', 'exited', { finishedMs: nowMs - 10_000 })), ['start c #1']],
  ['OnFailure leaves a success', aPod({ restartPolicy: 'OnFailure' }), sandbox(container('c', 'exited')), []],
  [
    'OnFailure restarts a failure',
    aPod({ restartPolicy: 'OnFailure' }),
    sandbox(container('c', 'exited', { ...failed, finishedMs: 0 })),
    ['start c #1'],
  ],
  ['Never restarts nothing', aPod({ restartPolicy: 'Never' }), sandbox(container('c', 'exited', failed)), []],
  ['init containers come first, one by one', aPod(init), sandbox(), ['start i1 #0']],
  ['the next waits for the one before', aPod(init), sandbox(container('i1', 'running')), []],
  ['then the next', aPod(init), sandbox(container('i1', 'exited')), ['start i2 #0']],
  [
    'a failed init container is tried again',
    aPod(init),
    sandbox(container('i1', 'exited', { ...failed, finishedMs: 0 })),
    ['start i1 #1'],
  ],
  ['but not with Never', aPod({ ...init, restartPolicy: 'Never' }), sandbox(container('i1', 'exited', failed)), []],
  ['at last the containers', aPod(init), sandbox(container('i1', 'exited'), container('i2', 'exited')), ['start c #0']],
  ['a sidecar runs beside', aPod(sidecar), sandbox(container('s', 'running')), ['start c #0']],
]
for (const [why, target, running, wanted] of actions)
  test(`run: ${why}`, () => deepEqual(shown(runPod(target, running, nowMs)), wanted))

test('end: containers are stopped, then the sandbox goes, then the object', () => {
  deepEqual(shown(endPod(30, sandbox(container('c', 'running'), container('d', 'exited')), true)), ['stop c in 30000'])
  deepEqual(shown(endPod(30, sandbox(container('c', 'exited')), true)), ['remove-sandbox'])
  deepEqual(shown(endPod(30, undefined, true)), ['release-pod'])
  deepEqual(shown(endPod(0, undefined, false)), [])
})

const statuses: [
  why: string,
  pod: Pod,
  running: RuntimePod | undefined,
  phase: string,
  ready: string,
  state: string,
][] = [
  ['nothing runs yet', aPod(), undefined, 'Pending', 'False', 'waiting'],
  ['all run', aPod(), sandbox(container('c', 'running')), 'Running', 'True', 'running'],
  ['created but not started', aPod(), sandbox(container('c', 'created')), 'Pending', 'False', 'waiting'],
  ['will be restarted', aPod(), sandbox(container('c', 'exited', failed)), 'Running', 'False', 'terminated'],
  [
    'succeeded',
    aPod({ restartPolicy: 'Never' }),
    sandbox(container('c', 'exited')),
    'Succeeded',
    'False',
    'terminated',
  ],
  [
    'failed',
    aPod({ restartPolicy: 'Never' }),
    sandbox(container('c', 'exited', failed)),
    'Failed',
    'False',
    'terminated',
  ],
  [
    'one of two runs',
    aPod({
      containers: [
        { name: 'c', image: 'i' },
        { name: 'd', image: 'i' },
      ],
    }),
    sandbox(container('c', 'running'), container('d', 'created')),
    'Pending',
    'False',
    'running',
  ],
  ['init still runs', aPod(init), sandbox(container('i1', 'running')), 'Pending', 'False', 'waiting'],
]
for (const [why, target, running, phase, ready, state] of statuses)
  test(`status: ${why}`, () => {
    const status = podStatus({
      pod: target,
      running,
      waiting: new Map(),
      lastWords: new Map(),
      hostIp: '192.0.2.1',
      runtimeName: 'test',
      nowMs,
    })
    deepEqual(
      [
        status.phase,
        status.conditions?.find(({ type }) => type === 'Ready')?.status,
        Object.keys(status.containerStatuses?.[0]?.state ?? {})[0],
      ],
      [phase, ready, state],
    )
  })

test('status: conditions keep their times while they keep their value', () => {
  const first = podStatus({
    pod: aPod(),
    running: sandbox(container('c', 'running')),
    waiting: new Map(),
    lastWords: new Map(),
    hostIp: 'h',
    runtimeName: 'test',
    nowMs,
  })
  const later = podStatus({
    pod: aPod({}, first),
    running: sandbox(container('c', 'running')),
    waiting: new Map(),
    lastWords: new Map(),
    hostIp: 'h',
    runtimeName: 'test',
    nowMs: nowMs + 60_000,
  })
  deepEqual(later, first)
  const broken = podStatus({
    pod: aPod({}, first),
    running: sandbox(container('c', 'exited', failed)),
    waiting: new Map([['c', { reason: 'CrashLoopBackOff', message: 'm' }]]),
    lastWords: new Map(),
    hostIp: 'h',
    runtimeName: 'test',
    nowMs: nowMs + 60_000,
  })
  deepEqual(
    [
      broken.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime,
      broken.containerStatuses?.[0]?.state,
      broken.containerStatuses?.[0]?.lastState?.terminated?.exitCode,
    ],
    ['2030-01-01T00:01:00Z', { waiting: { reason: 'CrashLoopBackOff', message: 'm' } }, 1],
  )
})

async function run(spec: Partial<PodInput['spec'] & object>, images: Record<string, SimulatedProgram | 'missing'>) {
  const cluster = await startCluster({ simulation: { images } })
  const pods = cluster.client.of(pod)
  await pods.create(
    { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'tested' }], ...spec } },
    'default',
    ctx,
  )
  return { cluster, read: () => pods.get('p', 'default', ctx), pods, [Symbol.asyncDispose]: () => cluster.stop() }
}

test('a container that crashes is restarted ever more slowly', async () => {
  await using running = await run({}, { tested: () => Promise.resolve(1) })
  await running.cluster.clock.advance('5s')
  const first = (await running.read()).status.containerStatuses?.[0]
  deepEqual([first?.restartCount, first?.state?.waiting?.reason], [0, 'CrashLoopBackOff'])
  await running.cluster.clock.advance('6s')
  equal((await running.read()).status.containerStatuses?.[0]?.restartCount, 1)
  await running.cluster.clock.advance('21s')
  equal((await running.read()).status.containerStatuses?.[0]?.restartCount, 2)
  await running.cluster.clock.advance('1h')
  const { restartCount = 0 } = (await running.read()).status.containerStatuses?.[0] ?? {}
  equal(restartCount > 10 && restartCount < 20, true, `${restartCount} restarts in an hour`)
})

test('a pod that finishes says how, and its containers are gone with it', async () => {
  await using running = await run(
    { restartPolicy: 'Never' },
    {
      tested: async ({ clock, terminated }) => {
        await clock.sleep(5000, terminated)
        return 3
      },
    },
  )
  await running.cluster.clock.advance('2s')
  equal((await running.read()).status.phase, 'Running')
  await running.cluster.clock.advance('5s')
  const { status } = await running.read()
  deepEqual([status.phase, status.containerStatuses?.[0]?.state?.terminated?.exitCode], ['Failed', 3])
  await running.pods.delete('p', 'default', {}, ctx)
  await running.cluster.clock.advance('5s')
  equal(await running.pods.find('p', 'default', ctx), undefined)
})

test('an image that is nowhere: ErrImagePull, then ImagePullBackOff', async () => {
  await using running = await run({}, { tested: 'missing' })
  await running.cluster.clock.advance('1s')
  const reasonNow = async () => (await running.read()).status.containerStatuses?.[0]?.state?.waiting?.reason
  equal(await reasonNow(), 'ErrImagePull')
  await running.cluster.clock.advance('15s')
  equal(await reasonNow(), 'ImagePullBackOff')
  const events = (await running.cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=p' }, ctx)).items
  match(
    events.map(({ reason, message }) => `${reason} ${message}`).join('\n'),
    /Failed Failed to pull image "tested": image "tested" does not exist/,
  )
})

test('a pod ends with its grace: asked first, killed at last', async () => {
  let asked = false
  await using running = await run(
    { terminationGracePeriodSeconds: 10 },
    { tested: ({ terminated }) => new Promise(() => terminated.addEventListener('abort', () => (asked = true))) },
  )
  await running.cluster.clock.advance('2s')
  await running.pods.delete('p', 'default', {}, ctx)
  await running.cluster.clock.advance('5s')
  deepEqual([asked, (await running.read()).metadata.deletionGracePeriodSeconds], [true, 10])
  await running.cluster.clock.advance('6s')
  equal(await running.pods.find('p', 'default', ctx), undefined)
})

test('init containers run to their end before the others start, with their environment', async () => {
  const trace: string[] = []
  const program =
    (name: string): SimulatedProgram =>
    async ({ clock, terminated, environment, arguments: args }) => {
      trace.push(`${name} ${environment['K'] ?? ''} ${args.join()}`)
      await clock.sleep(1000, terminated)
      return 0
    }
  const spec = {
    restartPolicy: 'Never' as const,
    initContainers: [
      { name: 'one', image: 'one', env: [{ name: 'K', value: 'v' }], args: ['x'] },
      { name: 'two', image: 'two' },
    ],
    containers: [{ name: 'c', image: 'tested' }],
  }
  await using running = await run(spec, { one: program('one'), two: program('two'), tested: program('main') })
  await running.cluster.clock.advance('10s')
  deepEqual(trace, ['one v x', 'two  ', 'main  '])
  equal((await running.read()).status.phase, 'Succeeded')
})

test('a node registers, beats every ten seconds and reports every five minutes', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await cluster.clock.advance('25s')
  const renewed = async () => (await cluster.client.of(lease).get('node-0', 'kube-node-lease', ctx)).spec.renewTime
  const lastBeat = await renewed()
  match(lastBeat ?? '', /^2030-01-01T00:00:2\d/)
  await cluster.kill('kubelet/node-0')
  await cluster.clock.advance('1m')
  equal(await renewed(), lastBeat, 'a dead kubelet does not beat')
  await cluster.clock.advance('5m')
  const [dead, alive] = (await cluster.client.of(node).list({}, ctx)).items
  const heartbeat = (object = dead) =>
    object?.status.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime
  deepEqual([heartbeat(dead), heartbeat(alive)], ['2030-01-01T00:00:00Z', '2030-01-01T00:05:00Z'])
})

test('a kubelet alone brings its own node, and leaves what it runs when it stops', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const random = seededRandom(9)
  const runtime = new SimulatedRuntime(clock, random)
  const description = {
    name: 'solo',
    hostIp: '192.0.2.9',
    capacity: { cpu: '1', pods: '2' },
    runtime: 'simulated://1',
    operatingSystem: 'linux',
    architecture: 'arm64',
    podCidr: '10.9.0.0/24',
  }
  equal(nodeObject(description, nowMs).spec?.podCIDR, '10.9.0.0/24')
  const tasks = new TaskGroup()
  const host = simulatedHost()
  new Kubelet({
    client,
    runtime,
    clock,
    random,
    flow: new FlowRecorder(clock),
    log: silentLog,
    description,
    host,
  }).start(tasks)
  await client
    .of(pod)
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, 'default', ctx)
  await clock.advance('5s')
  const { metadata, spec, status } = await client.of(pod).get('p', 'default', ctx)
  deepEqual([spec.nodeName, status.phase, status.hostIP], ['solo', 'Running', '192.0.2.9'])
  equal((await client.of(node).get('solo', '', ctx)).metadata.labels?.['kubernetes.io/arch'], 'arm64')
  tasks.stop()
  await tasks.join()
  equal((await runtime.inspect(metadata.uid, ctx.signal))?.containers[0]?.state, 'running')
})
