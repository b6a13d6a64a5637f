// Pods on simulated nodes: crashes, completion, image pulls, sidecars, admission and deletion.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { lease } from '../api/coordination/v1/lease.ts'
import { event } from '../api/core/v1/event.ts'
import { node } from '../api/core/v1/node/node.ts'
import { pod, type Pod } from '../api/core/v1/pod/pod.ts'
import { startCluster } from '../cluster/testing/start-cluster.ts'
import { serveUntilTerminated, type SimulatedProgram } from '../machine/runtime/simulated-runtime.ts'
import { nodeObject, healthyNode } from './node/node-status.ts'
import { nowMs } from './pod/pod-lifecycle.harness.ts'
import { solo, soloNode } from './solo.harness.ts'
import { ctx, eventsOf, run } from './pod-on-node.harness.ts'

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
