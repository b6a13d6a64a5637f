import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { qualifiedResource, type Kind } from '../../api/kind/kind.ts'
import type { Client } from '../../client/client.ts'
import { clusterOverview } from './cluster-overview.ts'

const { signal } = new AbortController()
const ctx = context(signal)
const condition = (type: string, status = 'True') => ({ conditions: [{ type, status }] })
const allocatable = { cpu: '4', memory: '8Gi', pods: '110' }
const withRequests = (cpu: string, memory: string) => ({
  nodeName: 'a',
  containers: [{ name: 'main', resources: { requests: { cpu, memory } } }],
})

const objects: Readonly<Record<string, readonly object[]>> = {
  nodes: [
    { status: { ...condition('Ready'), allocatable } },
    { status: { ...condition('Ready', 'False'), allocatable } },
    {},
  ],
  'deployments.apps': [
    { spec: { replicas: 2 }, status: { availableReplicas: 2 } },
    { spec: {}, status: {} },
    { spec: { replicas: 0 } },
  ],
  'statefulsets.apps': [{ spec: { replicas: 3 }, status: { readyReplicas: 2 } }, { spec: { replicas: 0 } }],
  'daemonsets.apps': [{ status: { desiredNumberScheduled: 2, numberReady: 1 } }, {}],
  'jobs.batch': [{ status: condition('Failed') }, { status: condition('Complete') }],
  pods: [
    { spec: withRequests('500m', '1Gi'), status: { phase: 'Running', ...condition('Ready') } },
    { spec: withRequests('1', '1Gi'), status: { phase: 'Running', ...condition('Ready', 'False') } },
    { spec: withRequests('9', '9Gi'), status: { phase: 'Succeeded' } },
    { spec: withRequests('9', '9Gi'), status: { phase: 'Failed' } },
    { spec: { ...withRequests('9', '9Gi'), nodeName: '' }, status: { phase: 'Pending' } },
  ],
  persistentvolumeclaims: [{ status: { phase: 'Bound' } }, { status: { phase: 'Pending' } }],
  'nodes.metrics.k8s.io': [{ usage: { cpu: '250m', memory: '512Mi' } }, { usage: { cpu: '1', memory: '512Mi' } }],
}

/** Lists of `absent` end with the status code. */
function clientOf(absent: Readonly<Record<string, number>> = {}) {
  const namespaces = new Set<string | undefined>()
  const list = (resource: string, options: { readonly namespace?: string }) => {
    namespaces.add(options.namespace)
    const code = absent[resource]
    if (code === undefined) return Promise.resolve({ items: objects[resource] ?? [] })
    return Promise.reject(new StatusError(code, 'InternalError', 'no'))
  }
  const of = (kind: Kind) => ({
    list: (options: { readonly namespace?: string }) => list(qualifiedResource(kind), options),
  })
  return { namespaces, client: { of } as unknown as Client }
}

const gib = 2 ** 30
const health = [
  { resource: 'nodes', well: 1, total: 3 },
  { resource: 'deployments.apps', well: 2, total: 3 },
  { resource: 'statefulsets.apps', well: 1, total: 2 },
  { resource: 'daemonsets.apps', well: 1, total: 2 },
  { resource: 'jobs.batch', well: 1, total: 2 },
  { resource: 'pods', well: 2, total: 5 },
  { resource: 'persistentvolumeclaims', well: 1, total: 2 },
]
const capacity = [
  { name: 'cpu', capacity: 8_000, requested: 1_500, used: 1_250 },
  { name: 'memory', capacity: 16 * gib, requested: 2 * gib, used: gib },
  { name: 'pods', capacity: 220, requested: 2, used: undefined },
]

test('the objects that are well are counted, and capacity is compared with requests and usage', async () => {
  const { client, namespaces } = clientOf()
  deepEqual(await clusterOverview(client, '', new VirtualClock(), ctx), { health, capacity })
  deepEqual(namespaces, new Set([undefined]))
})

test('a namespace has no nodes and no capacity', async () => {
  const { client, namespaces } = clientOf()
  deepEqual(await clusterOverview(client, 'shop', new VirtualClock(), ctx), { health: health.slice(1), capacity: [] })
  deepEqual(namespaces, new Set(['shop']))
})

test('what the user may not list is left out; without a metrics API the usage is not known', async () => {
  const withoutJobs = health.filter(({ resource }) => resource !== 'jobs.batch')
  deepEqual(
    await clusterOverview(
      clientOf({ 'jobs.batch': 403, 'nodes.metrics.k8s.io': 404 }).client,
      '',
      new VirtualClock(),
      ctx,
    ),
    { health: withoutJobs, capacity: capacity.map((share) => ({ ...share, used: undefined })) },
  )
  const withoutNodes = await clusterOverview(clientOf({ nodes: 403 }).client, '', new VirtualClock(), ctx)
  deepEqual(withoutNodes, { health: health.slice(1), capacity: [] })
})

test('other errors are reported', () =>
  rejects(clusterOverview(clientOf({ pods: 500 }).client, '', new VirtualClock(), ctx), { code: 500 }))

test('other requests are handled while many objects are counted, and the work ends with its request', async () => {
  let slices = 0
  const stop = new AbortController()
  class SlicedClock extends VirtualClock {
    #readings = 0

    override monotonicMs(): number {
      return (this.#readings += 100)
    }

    override outside<T>(work: Promise<T>): Promise<T> {
      if (++slices === 3) stop.abort()
      return super.outside(work)
    }
  }
  const items = Array.from({ length: 5_000 }, () => ({ status: {}, spec: {} }))
  const client = { of: () => ({ list: () => Promise.resolve({ items }) }) } as unknown as Client
  await rejects(clusterOverview(client, '', new SlicedClock(), context(stop.signal)), { name: 'AbortError' })
  deepEqual(slices, 3)
})
