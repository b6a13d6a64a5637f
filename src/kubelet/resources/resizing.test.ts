// In-place resizes as users see them: statuses, conditions and events.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { event } from '../../api/core/v1/event.ts'
import { pod, type PodInput } from '../../api/core/v1/pod/pod.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import type { SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'

const ctx = context(new AbortController().signal)

async function running(spec: Partial<PodInput['spec'] & object>, annotations: Record<string, string> = {}) {
  const images: Record<string, SimulatedProgram> = {}
  const cluster = await startCluster({ simulation: { images } })
  const pods = cluster.client.of(pod)
  const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '1', memory: '64Mi' } } }]
  await pods.create({ metadata: { name: 'p', annotations }, spec: { containers, ...spec } }, 'default', ctx)
  await cluster.clock.advance('5s')
  return {
    cluster,
    status: async () => (await pods.get('p', 'default', ctx)).status,
    async resize(change: object) {
      await pods.patch('p', 'default', { spec: change }, 'strategic', ctx, 'resize')
      await cluster.clock.advance('3s')
    },
    async recorded() {
      const { items } = await cluster.client.of(event).list({ fieldSelector: 'involvedObject.name=p' }, ctx)
      return items
        .filter(({ reason = '' }) => reason.startsWith('Resize'))
        .map(({ type, reason, message }) => `${type} ${reason} ${message}`)
    },
    [Symbol.asyncDispose]: () => cluster.stop(),
  }
}

const asks = (cpu: string, memory = '64Mi') => ({
  containers: [{ name: 'c', resources: { requests: { cpu, memory } } }],
})
const summary = (cpu: string, generation: number) =>
  `"containers":[{"name":"c","resources":{"requests":{"cpu":"${cpu}","memory":"64Mi"}}}],"generation":${generation}`

test('a resize is reported when it starts and when it completes', async () => {
  await using it = await running({})
  await it.resize(asks('2'))
  deepEqual(await it.recorded(), [
    `Normal ResizeStarted Pod resize started: {${summary('2', 2)}}`,
    `Normal ResizeCompleted Pod resize completed: {${summary('2', 2)}}`,
  ])
  const { containerStatuses, conditions = [] } = await it.status()
  deepEqual(containerStatuses?.[0]?.resources, { requests: { cpu: '2', memory: '64Mi' } })
  deepEqual(
    conditions.filter(({ type }) => type.startsWith('PodResize')),
    [],
  )
})

test('an infeasible resize is reported once, and nothing changes', async () => {
  await using it = await running({})
  await it.resize(asks('100'))
  await it.cluster.clock.advance('1m')
  const why = "Node didn't have enough capacity: cpu, requested: 100000, capacity: 8000"
  deepEqual(await it.recorded(), [
    `Warning ResizeInfeasible Pod resize Infeasible: {${summary('100', 2)},"error":"${why}"}`,
  ])
  const { conditions = [], containerStatuses } = await it.status()
  const pending = conditions.find(({ type }) => type === 'PodResizePending')
  deepEqual([pending?.status, pending?.reason, pending?.message], ['True', 'Infeasible', why])
  equal(containerStatuses?.[0]?.resources?.requests?.['cpu'], '1')
})

test('a memory limit below the current usage is rejected', async () => {
  const resources = { limits: { cpu: '1', memory: '128Mi' } }
  const it = await running(
    { containers: [{ name: 'c', image: 'i', resources }] },
    { 'coxswain.dev/usage': 'memory=100Mi' },
  )
  await using _it = it
  const less = { cpu: '1', memory: '64Mi' }
  await it.resize({ containers: [{ name: 'c', resources: { limits: less, requests: less } }] })
  const { conditions = [], containerStatuses } = await it.status()
  const progress = conditions.find(({ type }) => type === 'PodResizeInProgress')
  const why = 'attempting to set container "c" memory limit (67108864) below current usage (104857600)'
  deepEqual([progress?.status, progress?.reason, progress?.message], ['True', 'Error', why])
  equal(containerStatuses?.[0]?.resources?.limits?.['memory'], '128Mi')
  match(
    (await it.recorded()).join('\n'),
    /ResizeStarted.*\nWarning ResizeError Pod resize error: .*below current usage/,
  )
})

test('a container that exits with 0 for a resize is restarted, whatever its restart policy is', async () => {
  const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' as const }]
  const container = { name: 'c', image: 'i', resizePolicy, resources: { requests: { cpu: '1', memory: '64Mi' } } }
  await using it = await running({ restartPolicy: 'OnFailure', containers: [container] })
  await it.resize(asks('2'))
  const { phase, containerStatuses } = await it.status()
  const [one] = containerStatuses ?? []
  deepEqual(
    [phase, one?.restartCount, one?.lastState?.terminated?.exitCode, one?.resources?.requests?.['cpu']],
    ['Running', 1, 0, '2'],
  )
  match((await it.recorded()).at(-1) ?? '', /^Normal ResizeCompleted /)
})

test('the allocated resources of a pod without requests of its own are those of its containers together', async () => {
  const requests = { cpu: '500m', memory: '64Mi' }
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i', resources: { requests: { cpu: '600m' } } }))
  await using it = await running({
    containers: [...containers, { name: 'c', image: 'i', resources: { requests } }],
    initContainers: [{ name: 'first', image: 'once', resources: { requests: { memory: '1Gi' } } }],
  })
  const { allocatedResources, resources } = await it.status()
  deepEqual([allocatedResources, resources], [{ cpu: '1700m', memory: '1Gi' }, undefined])
})

test('pod-level resources change in place', async () => {
  const containers = [{ name: 'c', image: 'i' }]
  const amounts = (cpu: string) => ({ requests: { cpu, memory: '64Mi' }, limits: { cpu: '4', memory: '1Gi' } })
  await using it = await running({ containers, resources: amounts('1') })
  deepEqual((await it.status()).resources, amounts('1'))
  await it.resize({ resources: amounts('2') })
  const { resources, allocatedResources } = await it.status()
  deepEqual([resources, allocatedResources], [amounts('2'), { cpu: '2', memory: '64Mi' }])
  match(
    (await it.recorded()).at(-1) ?? '',
    /ResizeCompleted Pod resize completed: \{"resources":\{"limits":\{"cpu":"4",/,
  )
})

test('a pod gets pod-level resources while it runs', async () => {
  await using it = await running({})
  deepEqual((await it.status()).allocatedResources, { cpu: '1', memory: '64Mi' })
  const whole = { requests: { cpu: '2', memory: '64Mi' }, limits: { cpu: '3', memory: '128Mi' } }
  await it.resize({ resources: whole })
  const { resources, allocatedResources } = await it.status()
  deepEqual([resources, allocatedResources], [whole, whole.requests])
  match((await it.recorded()).join('\n'), /^Normal ResizeStarted .*\nNormal ResizeCompleted .*$/)
})

test('a new pod with pod-level resources is not resized', async () => {
  const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } }
  await using it = await running({ containers: [{ name: 'c', image: 'i' }], resources })
  await it.cluster.clock.advance('1m')
  deepEqual(await it.recorded(), [])
})

const ofWhole = (cpu: string, memory = '1Gi') => ({ requests: { cpu: '1', memory: '64Mi' }, limits: { cpu, memory } })
const wholeResizes: [why: string, change: object, calls: string[] | null, restarts: number[]][] = [
  ['are resized with the limits of their pod', ofWhole('3', '2Gi'), ['resize container c'], [0, 0]],
  ['restart if their policy requires it for that limit', ofWhole('4'), null, [1, 0]],
]
for (const [why, change, calls, restarts] of wholeResizes)
  test(`containers without limits of their own ${why}`, async () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' as const }]
    const own = { limits: { cpu: '1', memory: '64Mi' } }
    const containers = [
      { name: 'c', image: 'i', resizePolicy },
      { name: 'limited', image: 'i', resizePolicy, resources: own },
    ]
    await using it = await running({ containers, resources: ofWhole('3') })
    await it.resize({ resources: change })
    await it.cluster.clock.advance('30s')
    deepEqual(it.cluster.flow(pod, 'p').match(/resize container \w+/g), calls)
    const { containerStatuses = [], resources, conditions = [] } = await it.status()
    deepEqual(
      containerStatuses.map(({ restartCount }) => restartCount),
      restarts,
    )
    deepEqual(resources, change)
    deepEqual(
      conditions.filter(({ type }) => type.startsWith('PodResize')),
      [],
    )
  })
