// Pods on simulated nodes: crashes, completion, image pulls, probes, hooks and deletion.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/observability/context.ts'
import { lease } from '../api/coordination/v1/lease.ts'
import { event } from '../api/core/v1/event.ts'
import { node } from '../api/core/v1/node/node.ts'
import { pod, type Pod, type PodInput } from '../api/core/v1/pod/pod.ts'
import { startCluster, type TestCluster as Cluster } from '../cluster/testing/start-cluster.ts'
import { serveUntilTerminated, type SimulatedProgram } from '../machine/runtime/simulated-runtime.ts'
import { nodeObject, healthyNode } from './node/node-status.ts'
import { nowMs } from './pod/pod-lifecycle.harness.ts'
import { solo, soloNode } from './solo.harness.ts'

const ctx = context(new AbortController().signal)

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

test('a crashing container is restarted with a growing backoff', async () => {
  await using running = await run({}, { tested: () => Promise.resolve(1) })
  await running.cluster.clock.advance('5s')
  const first = (await running.read()).status.containerStatuses?.[0]
  deepEqual([first?.restartCount, first?.state?.waiting?.reason], [1, 'CrashLoopBackOff'])
  match(first?.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=c pod=p_default\(.+\)$/)
  await running.cluster.clock.advance('6s')
  equal((await running.read()).status.containerStatuses?.[0]?.restartCount, 2)
  await running.cluster.clock.advance('21s')
  equal((await running.read()).status.containerStatuses?.[0]?.restartCount, 3)
  await running.cluster.clock.advance('1h')
  const { restartCount = 0 } = (await running.read()).status.containerStatuses?.[0] ?? {}
  equal(restartCount > 10 && restartCount < 20, true, `${restartCount} restarts in an hour`)
})

test('a finished pod reports its exit codes, and its containers are removed with it', async () => {
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

test('a missing image: ErrImagePull, then ImagePullBackOff', async () => {
  await using running = await run({}, { tested: 'missing' })
  await running.cluster.clock.advance('500ms')
  const reasonNow = async () => (await running.read()).status.containerStatuses?.[0]?.state?.waiting?.reason
  equal(await reasonNow(), 'ErrImagePull')
  await running.cluster.clock.advance('2s')
  equal(await reasonNow(), 'ImagePullBackOff')
  const events = (await running.cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=p' }, ctx)).items
  match(
    events.map(({ reason, message }) => `${reason} ${message}`).join('\n'),
    /Failed Failed to pull image "tested": image "tested" does not exist\n(.*\n)*BackOff Back-off pulling image "tested"/,
  )
})

test('the image of a volume is pulled before its container starts, and a failed pull is reported', async () => {
  const volumeMounts = [{ name: 'v', mountPath: '/v' }]
  const spec = {
    containers: [{ name: 'c', image: 'tested', volumeMounts }],
    volumes: [{ name: 'v', image: { reference: 'data:1' } }],
  }
  await using running = await run(spec, { 'data:1': 'missing' })
  await running.cluster.clock.advance('500ms')
  const { state } = (await running.read()).status.containerStatuses?.[0] ?? {}
  deepEqual([state?.waiting?.reason, state?.waiting?.message], ['ErrImagePull', 'image "data:1" does not exist'])
  await using fine = await run(spec, {})
  await fine.cluster.clock.advance('5s')
  equal((await fine.read()).status.phase, 'Running')
})

test('a pod is terminated with SIGTERM, and killed after its grace period', async () => {
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

test('init containers complete before the main containers start, with their environment', async () => {
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

test('a node registers, renews its lease every ten seconds and reports its status every five minutes', async () => {
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

test('a kubelet registers its own node, and its containers keep running when it stops', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const { runtime, start } = soloNode(cluster)
  equal(nodeObject(solo, healthyNode, nowMs).spec?.podCIDR, '10.9.0.0/24')
  const tasks = start()
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

const eventsOf = async ({ client }: Cluster, name = 'p') =>
  (await client.of(event).list({ fieldSelector: `involvedObject.name=${name}` }, ctx)).items.map(
    ({ reason, message, count }) => `${reason}: ${message}${(count ?? 1) > 1 ? ` (x${count})` : ''}`,
  )
const firstStatus = async ({ read }: { read: () => Promise<Pod> }) => {
  const { status } = await read()
  return status.containerStatuses?.[0]
}
/** Serves until it is terminated; `answers` gives the HTTP responses. */
const site =
  (answer: () => number): SimulatedProgram =>
  (process) => {
    process.serveHttp(80, () => ({ status: answer() }))
    return serveUntilTerminated(process)
  }
const httpGet = { path: '/healthz', port: 80 }

test('a liveness probe that fails three times restarts the container and records events', async () => {
  let isWell = true
  const livenessProbe = { httpGet, periodSeconds: 5, terminationGracePeriodSeconds: 3 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', livenessProbe }] },
    { tested: site(() => (isWell ? 200 : 500)) },
  )
  await running.cluster.clock.advance('1m')
  equal((await firstStatus(running))?.restartCount, 0)
  isWell = false
  await running.cluster.clock.advance('16s')
  isWell = true
  await running.cluster.clock.advance('1m')
  const status = await firstStatus(running)
  deepEqual([status?.restartCount, status?.ready, status?.lastState?.terminated?.exitCode], [1, true, 0])
  const statuses = (await eventsOf(running.cluster)).join('\n')
  match(statuses, /Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500 \(x\d\)/)
  match(statuses, /Killing: Container c failed liveness probe, will be restarted/)
})

test('a readiness probe makes a pod ready and unready without restarts', async () => {
  let isWell = false
  const readinessProbe = { httpGet, periodSeconds: 2, initialDelaySeconds: 4, failureThreshold: 2, successThreshold: 2 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', readinessProbe }] },
    { tested: site(() => (isWell ? 200 : 500)) },
  )
  const look = async (after: string) => {
    await running.cluster.clock.advance(after)
    const { status } = await running.read()
    return [status.phase, status.conditions?.find(({ type }) => type === 'Ready')?.status]
  }
  deepEqual(await look('3s'), ['Running', 'False'])
  isWell = true
  deepEqual(await look('2s'), ['Running', 'False'], 'one success of two')
  deepEqual(await look('2s'), ['Running', 'True'])
  isWell = false
  deepEqual(await look('5s'), ['Running', 'False'])
  equal((await firstStatus(running))?.restartCount, 0)
})

test('a terminating pod becomes unready before its containers end', async () => {
  let isWell = true
  const readinessProbe = { httpGet, periodSeconds: 2 }
  await using running = await run(
    { terminationGracePeriodSeconds: 60, containers: [{ name: 'c', image: 'tested', readinessProbe }] },
    {
      tested: (process) => {
        process.serveHttp(80, () => ({ status: isWell ? 200 : 503 }))
        process.terminated.addEventListener('abort', () => (isWell = false))
        return new Promise(() => undefined)
      },
    },
  )
  const look = async (after: string) => {
    await running.cluster.clock.advance(after)
    const now = await running.pods.find('p', 'default', ctx)
    return now?.status.conditions?.find(({ type }) => type === 'Ready')?.status
  }
  equal(await look('5s'), 'True')
  await running.pods.delete('p', 'default', {}, ctx)
  equal(await look('3s'), 'True', 'fewer than three failures')
  equal(await look('5s'), 'False')
  isWell = true
  equal(await look('5s'), 'True')
  equal(await look('50s'), undefined)
})

test('a startup probe delays the others; one that never succeeds restarts the container', async () => {
  let isUp = false
  const asked: string[] = []
  const program: SimulatedProgram = (process) => {
    process.serveHttp(80, ({ path }) => {
      asked.push(path)
      return { status: path === '/up' && !isUp ? 500 : 200 }
    })
    return serveUntilTerminated(process)
  }
  const startupProbe = { httpGet: { path: '/up', port: 80 }, periodSeconds: 10, failureThreshold: 3 }
  const livenessProbe = { httpGet: { path: '/alive', port: 80 }, periodSeconds: 1 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', startupProbe, livenessProbe }] },
    { tested: program },
  )
  await running.cluster.clock.advance('15s')
  deepEqual(new Set(asked), new Set(['/up']))
  deepEqual([(await firstStatus(running))?.started, (await firstStatus(running))?.ready], [false, false])
  await running.cluster.clock.advance('10s')
  equal((await firstStatus(running))?.restartCount, 1)
  isUp = true
  await running.cluster.clock.advance('12s')
  deepEqual([(await firstStatus(running))?.started, asked.includes('/alive')], [true, true])
})

test('a readiness probe begins as soon as the startup probe has succeeded', async () => {
  let isUp = false
  const program = site(() => (isUp ? 200 : 503))
  const startupProbe = { httpGet, periodSeconds: 1, failureThreshold: 60 }
  const readinessProbe = { httpGet, periodSeconds: 1_000 }
  await using running = await run(
    { containers: [{ name: 'c', image: 'tested', startupProbe, readinessProbe }] },
    { tested: program },
  )
  await running.cluster.clock.advance('30s')
  deepEqual([(await firstStatus(running))?.started, (await firstStatus(running))?.ready], [false, false])
  isUp = true
  await running.cluster.clock.advance('3s')
  deepEqual([(await firstStatus(running))?.started, (await firstStatus(running))?.ready], [true, true])
})

test('a restarted kubelet keeps ready containers ready', async () => {
  let asked = 0
  const program = site(() => {
    asked++
    return 200
  })
  const readinessProbe = { httpGet, periodSeconds: 100 }
  await using running = await run({ containers: [{ name: 'c', image: 'tested', readinessProbe }] }, { tested: program })
  await running.cluster.clock.advance('5s')
  const { spec, status, metadata } = await running.read()
  equal(status.conditions?.find(({ type }) => type === 'Ready')?.status, 'True')
  await running.cluster.kill(`kubelet/${spec.nodeName}`)
  running.cluster.start(`kubelet/${spec.nodeName}`)
  await running.cluster.clock.advance('200ms')
  equal(asked, 1)
  equal((await running.read()).metadata.resourceVersion, metadata.resourceVersion, 'nothing was reported')
  await running.cluster.clock.advance('2m')
  equal(asked > 1, true)
})

test('hooks: postStart after the start, preStop within the grace period', async () => {
  const trace: string[] = []
  const program: SimulatedProgram = ({ onCommand, terminated, clock }) => {
    const say = (what: string) => trace.push(`${what} at ${(clock.nowMs() - startMs) / 1000}`)
    const startMs = clock.nowMs()
    onCommand(async ([name = '']) => {
      say(name)
      if (name === 'before') await clock.sleep(4000, new AbortController().signal)
      return { exitCode: 0 }
    })
    return new Promise((resolve) =>
      terminated.addEventListener('abort', () => {
        say(String(terminated.reason))
        resolve(0)
      }),
    )
  }
  const lifecycle = {
    postStart: { exec: { command: ['after'] } },
    preStop: { exec: { command: ['before'] } },
    stopSignal: 'SIGUSR1' as const,
  }
  const spec = { os: { name: 'linux' as const }, containers: [{ name: 'c', image: 'tested', lifecycle }] }
  await using running = await run(spec, { tested: program })
  await running.cluster.clock.advance('10s')
  await running.pods.delete('p', 'default', {}, ctx)
  await running.cluster.clock.advance('10s')
  deepEqual(trace, ['after at 0', 'before at 10', 'SIGUSR1 at 14'])
  equal(await running.pods.find('p', 'default', ctx), undefined)
})

test('a failed postStart hook restarts the container; a failed preStop hook does not stop the termination', async () => {
  const lifecycle = { postStart: { exec: { command: ['x'] } }, preStop: { httpGet: { port: 1 } } }
  const program: SimulatedProgram = (process) => {
    process.onCommand(() => Promise.resolve({ exitCode: 1, stdout: 'a secret' }))
    return serveUntilTerminated(process)
  }
  await using running = await run({ containers: [{ name: 'c', image: 'tested', lifecycle }] }, { tested: program })
  await running.cluster.clock.advance('5s')
  const statuses = await eventsOf(running.cluster)
  equal(
    statuses.some((line) => line.startsWith('FailedPostStartHook: PostStartHook failed')),
    true,
    statuses.join('\n'),
  )
  equal(statuses.join('\n').includes('secret'), false)
  const status = await firstStatus(running)
  deepEqual([status?.state?.waiting?.reason, status?.lastState?.terminated?.exitCode], ['CrashLoopBackOff', 0])
})

test('a failed preStop hook is reported, and a sleeping one is limited by the grace period', async () => {
  for (const [preStop, statuses] of [
    [{ httpGet: { port: 1 } }, true],
    [{ sleep: { seconds: 60 } }, false],
  ] as const) {
    const lifecycle = { preStop }
    await using running = await run(
      { terminationGracePeriodSeconds: 61, containers: [{ name: 'c', image: 'tested', lifecycle }] },
      { tested: serveUntilTerminated },
    )
    await running.cluster.clock.advance('2s')
    await running.pods.delete('p', 'default', { gracePeriodSeconds: 10 }, ctx)
    await running.cluster.clock.advance('11s')
    equal(await running.pods.find('p', 'default', ctx), undefined)
    equal((await eventsOf(running.cluster)).includes('FailedPreStopHook: PreStopHook failed'), statuses)
  }
})

test('a pod is terminated after activeDeadlineSeconds', async () => {
  await using running = await run({ activeDeadlineSeconds: 30 }, { tested: serveUntilTerminated })
  await running.cluster.clock.advance('29s')
  equal((await running.read()).status.phase, 'Running')
  await running.cluster.clock.advance('5s')
  const { status } = await running.read()
  const message = 'Pod was active on the node longer than the specified deadline'
  deepEqual([status.phase, status.reason, status.message], ['Failed', 'DeadlineExceeded', message])
  equal((await eventsOf(running.cluster)).includes(`DeadlineExceeded: ${message}`), true)
})

test('a shortened grace period takes effect at once; a deleted pod does not wait for its image', async () => {
  await using running = await run({ terminationGracePeriodSeconds: 600 }, { tested: () => new Promise(() => {}) })
  await running.cluster.clock.advance('2s')
  await running.pods.delete('p', 'default', {}, ctx)
  await running.cluster.clock.advance('10s')
  await running.pods.delete('p', 'default', { gracePeriodSeconds: 5 }, ctx)
  await running.cluster.clock.advance('6s')
  equal(await running.pods.find('p', 'default', ctx), undefined)
})

test('sidecars start before the main containers and stop after them', async () => {
  const trace: string[] = []
  const program =
    (name: string): SimulatedProgram =>
    async ({ terminated, clock }) => {
      trace.push(`${name} starts`)
      await new Promise((resolve) => terminated.addEventListener('abort', resolve))
      await clock.sleep(2000, new AbortController().signal)
      trace.push(`${name} ends`)
      return 0
    }
  const always = 'Always' as const
  const spec = {
    initContainers: [
      { name: 's1', image: 's1', restartPolicy: always },
      { name: 's2', image: 's2', restartPolicy: always },
    ],
  }
  await using running = await run(spec, { tested: program('c'), s1: program('s1'), s2: program('s2') })
  await running.cluster.clock.advance('5s')
  await running.pods.delete('p', 'default', {}, ctx)
  await running.cluster.clock.advance('20s')
  deepEqual(trace, ['s1 starts', 's2 starts', 'c starts', 'c ends', 's2 ends', 's1 ends'])
})

test('an ephemeral container is started in a running pod, and never restarted', async () => {
  let started = 0
  const debug: SimulatedProgram = () => {
    started++
    return Promise.resolve(1)
  }
  await using running = await run({}, { tested: serveUntilTerminated, debug })
  await running.cluster.clock.advance('2s')
  const now = await running.read()
  const ephemeralContainers = [{ name: 'd', image: 'debug', targetContainerName: 'c' }]
  await running.pods.updateSubresource(
    { ...now, spec: { ...now.spec, ephemeralContainers } } as unknown as Pod,
    'ephemeralcontainers',
    ctx,
  )
  await running.cluster.clock.advance('1m')
  const { status } = await running.read()
  deepEqual(
    [started, status.phase, status.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode],
    [1, 'Running', 1],
  )
})

test('a node rejects pods that do not fit, with a reason', async () => {
  const containers = [{ name: 'c', image: 'tested', resources: { requests: { cpu: '100' } } }]
  await using running = await run({ nodeName: 'node-0', containers }, { tested: serveUntilTerminated })
  await running.cluster.clock.advance('2s')
  const { status } = await running.read()
  const why = "Node didn't have enough resource: cpu, requested: 100000, used: 0, capacity: 8000"
  deepEqual([status.phase, status.reason, status.message], ['Failed', 'OutOfcpu', `Pod was rejected: ${why}`])
  equal((await eventsOf(running.cluster)).includes(`OutOfcpu: ${why}`), true)
})

test('a node rejects a pod with a sysctl that is not allowed', async () => {
  const securityContext = { sysctls: [{ name: 'kernel.msgmax', value: '1' }] }
  await using running = await run({ securityContext }, { tested: serveUntilTerminated })
  await running.cluster.clock.advance('2s')
  const { status } = await running.read()
  const message = 'Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted'
  deepEqual([status.phase, status.reason, status.message], ['Failed', 'SysctlForbidden', message])
  deepEqual([status.observedGeneration, status.conditions ?? []], [1, []])
})

const probe = { httpGet: { port: 80 }, periodSeconds: 1, failureThreshold: 1 }
const exec = { exec: { command: ['ask'] }, periodSeconds: 1, failureThreshold: 1 }
const answering: [
  why: string,
  annotations: Record<string, string>,
  asked: object,
  seen: [ready: string, restarts: number][],
][] = [
  [
    'as configured for its image',
    {},
    { readinessProbe: probe },
    [
      ['False', 0],
      ['True', 0],
      ['True', 0],
    ],
  ],
  [
    'as configured in its pod',
    { 'answer-after': '12s' },
    { readinessProbe: exec },
    [
      ['False', 0],
      ['False', 0],
      ['True', 0],
    ],
  ],
  [
    'until it stops responding',
    { 'answer-until.c': '8s' },
    { readinessProbe: probe },
    [
      ['False', 0],
      ['True', 0],
      ['False', 0],
    ],
  ],
  [
    'and is restarted when they fail',
    { 'answer-after': '0s', 'answer-until': '8s' },
    { livenessProbe: exec },
    [
      ['True', 0],
      ['True', 0],
      ['True', 1],
    ],
  ],
]
for (const [why, configured, asked, seen] of answering)
  test(`a simulated container responds to probes ${why}`, async () => {
    await using cluster = await startCluster({ simulation: { images: { slow: { answerAfterMs: 5_000 } } } })
    const annotations = Object.fromEntries(
      Object.entries(configured).map(([name, value]) => [`simulated.coxswain.dev/${name}`, value]),
    )
    const spec = { containers: [{ name: 'c', image: 'slow', ...asked }] }
    await cluster.client.of(pod).create({ metadata: { name: 'p', annotations }, spec }, 'default', ctx)
    const found: [string, number][] = []
    for (const wait of ['3s', '4s', '8s']) {
      await cluster.clock.advance(wait)
      const { status } = await cluster.client.of(pod).get('p', 'default', ctx)
      const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''
      found.push([ready, status.containerStatuses?.[0]?.restartCount ?? 0])
    }
    deepEqual(found, seen)
  })

test('of two pods that are bound to a node at once, the second is rejected if it does not fit', async () => {
  await using cluster = await startCluster({ nodes: 0 })
  const tasks = soloNode(cluster).start()
  await cluster.clock.advance('1s')
  const resources = { requests: { cpu: '3' } }
  const spec = { nodeName: solo.name, containers: [{ name: 'c', image: 'i', resources }] }
  const pods = cluster.client.of(pod)
  await Promise.all(['a', 'b'].map((name) => pods.create({ metadata: { name }, spec }, 'default', ctx)))
  await cluster.clock.advance('1s')
  const { items } = await pods.list({ namespace: 'default' }, ctx)
  deepEqual(items.map(({ status }) => [status.phase, status.reason]).toSorted(), [
    ['Failed', 'OutOfcpu'],
    ['Running', undefined],
  ])
  await tasks[Symbol.asyncDispose]()
})
