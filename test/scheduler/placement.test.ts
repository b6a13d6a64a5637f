// Placement end to end on the virtual clock: spread, affinity, gates, budgets, nominations, volumes, devices, profiles.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  deviceClass,
  event,
  node,
  persistentVolume,
  persistentVolumeClaim,
  pod,
  podDisruptionBudget,
  priorityClass,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
  startCluster,
  storageClass,
  type TestCluster,
} from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)

const makePod = ({ client }: TestCluster, name: string, spec: object = {}, labels: Record<string, string> = {}) =>
  client
    .of(pod)
    .create({ metadata: { name, labels }, spec: { containers: [{ name: 'c', image: 'x' }], ...spec } }, 'default', ctx)

const getPod = ({ client }: TestCluster, name: string) => client.of(pod).get(name, 'default', ctx)
const nodeOf = async (cluster: TestCluster, name: string) => (await getPod(cluster, name)).spec.nodeName
const messageOf = async (cluster: TestCluster, name: string) =>
  (await getPod(cluster, name)).status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? ''
const cpu = (amount: string, extra: object = {}) => ({
  containers: [{ name: 'c', image: 'x', resources: { requests: { cpu: amount } } }],
  ...extra,
})
const label = ({ client }: TestCluster, name: string, labels: Record<string, string>) =>
  client.of(node).patch(name, '', { metadata: { labels } }, 'merge', ctx)

test('hard spread: each zone gets its share, and the next pod waits for a zone that may take it', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  await label(cluster, 'node-0', { zone: 'a' })
  await label(cluster, 'node-1', { zone: 'b' })
  await cluster.clock.advance('1s')
  const web = { app: 'web' }
  const spread = {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: web } },
    ],
  }
  for (const name of ['a', 'b', 'c', 'd']) await makePod(cluster, name, spread, web)
  await cluster.clock.advance('5s')
  const nodes = await Promise.all(['a', 'b', 'c', 'd'].map((name) => nodeOf(cluster, name)))
  deepEqual(nodes.toSorted(), ['node-0', 'node-0', 'node-1', 'node-1'])
  await cluster.client.of(node).patch('node-1', '', { spec: { unschedulable: true } }, 'merge', ctx)
  await cluster.clock.advance('1s')
  await makePod(cluster, 'e', spread, web)
  await makePod(cluster, 'f', spread, web)
  await cluster.clock.advance('5s')
  const waiting = (await nodeOf(cluster, 'e')) === undefined ? 'e' : 'f'
  match(
    await messageOf(cluster, waiting),
    /^0\/2 nodes are available: 1 node\(s\) didn't match pod topology spread constraints, 1 node\(s\) were unschedulable\./,
  )
  await cluster.client.of(node).patch('node-1', '', { spec: { unschedulable: null } }, 'merge', ctx)
  await cluster.clock.advance('15s')
  equal(await nodeOf(cluster, waiting), 'node-1')
})

test('affinity and anti-affinity: placed together, apart, and requeued when the missing pod is created', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const term = (app: string) => ({
    labelSelector: { matchLabels: { app } },
    topologyKey: 'kubernetes.io/hostname',
  })
  const near = { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('db')] } } }
  const away = { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term('db')] } } }
  await label(cluster, 'node-0', { 'kubernetes.io/hostname': 'node-0' })
  await label(cluster, 'node-1', { 'kubernetes.io/hostname': 'node-1' })
  await cluster.clock.advance('1s')
  await makePod(cluster, 'near', near)
  await cluster.clock.advance('2s')
  match(await messageOf(cluster, 'near'), /2 node\(s\) didn't match pod affinity rules/)
  await makePod(cluster, 'db', {}, { app: 'db' })
  await makePod(cluster, 'away', away)
  await cluster.clock.advance('15s')
  const db = await nodeOf(cluster, 'db')
  equal(await nodeOf(cluster, 'near'), db)
  equal((await nodeOf(cluster, 'away')) === db, false)
})

test('gates: a gated pod is not scheduled, has the condition, and is placed when the last gate is removed', async () => {
  await using cluster = await startCluster()
  await makePod(cluster, 'gated', { schedulingGates: [{ name: 'a.b/one' }, { name: 'a.b/two' }] })
  const gates = (...names: string[]) =>
    cluster.client
      .of(pod)
      .patch('gated', 'default', { spec: { schedulingGates: names.map((name) => ({ name })) } }, 'merge', ctx)
  await cluster.clock.advance('10s')
  equal((await getPod(cluster, 'gated')).status.conditions?.[0]?.reason, 'SchedulingGated')
  await gates('a.b/two')
  await cluster.clock.advance('10s')
  equal(await nodeOf(cluster, 'gated'), undefined)
  await gates()
  await cluster.clock.advance('5s')
  equal(await nodeOf(cluster, 'gated'), 'node-0')
})

test('preemption respects a budget, and a pod with preemptionPolicy Never does not preempt', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const polite = { metadata: { name: 'polite' }, value: 1000, preemptionPolicy: 'Never' } as const
  await client.of(priorityClass).create(polite, '', ctx)
  await clock.advance('1s')
  await makePod(cluster, 'kept', cpu('6'), { app: 'kept' })
  await makePod(cluster, 'spare', cpu('6'), { app: 'spare' })
  await clock.advance('5s')
  const spareNode = await nodeOf(cluster, 'spare')
  await client
    .of(podDisruptionBudget)
    .create(
      { metadata: { name: 'kept' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } } },
      'default',
      ctx,
    )
  await makePod(cluster, 'polite', cpu('6', { priorityClassName: 'polite' }))
  await clock.advance('2s')
  match(await messageOf(cluster, 'polite'), /preemption: not eligible due to preemptionPolicy=Never\.$/)
  await makePod(cluster, 'vip', cpu('6', { priorityClassName: 'system-node-critical' }))
  await clock.advance('1m')
  equal(await nodeOf(cluster, 'vip'), spareNode)
  const left = (await client.of(pod).list({ namespace: 'default' }, ctx)).items.map(({ metadata }) => metadata.name)
  deepEqual(left, ['kept', 'polite', 'vip'])
})

test('a nominated node is not taken by a pod with a lower priority', async () => {
  const stubborn = () => new Promise<number>(() => {})
  await using cluster = await startCluster({ simulation: { images: { stubborn } } })
  const { client, clock } = cluster
  await clock.advance('1s')
  const containers = [{ name: 'c', image: 'stubborn', resources: { requests: { cpu: '6' } } }]
  await makePod(cluster, 'old', { containers, terminationGracePeriodSeconds: 30 })
  await clock.advance('3s')
  await makePod(cluster, 'vip', cpu('6', { priorityClassName: 'system-node-critical' }))
  await clock.advance('1s')
  const victim = await getPod(cluster, 'old')
  deepEqual(victim.status.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'PreemptionByScheduler')
  equal((await getPod(cluster, 'vip')).status.nominatedNodeName, 'node-0')
  await makePod(cluster, 'lesser', cpu('2'))
  await clock.advance('10s')
  deepEqual([await nodeOf(cluster, 'vip'), await nodeOf(cluster, 'lesser')], [undefined, undefined])
  await clock.advance('2m')
  deepEqual([await nodeOf(cluster, 'vip'), await nodeOf(cluster, 'lesser')], ['node-0', 'node-0'])
  equal(await client.of(pod).find('old', 'default', ctx), undefined)
})

test('volumes: the first consumer determines the node, and a local volume determines the node of its pod', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  await client.of(storageClass).create(
    {
      metadata: { name: 'local' },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    },
    '',
    ctx,
  )
  for (const name of ['node-0', 'node-1']) await label(cluster, name, { host: name })
  const claim = (name: string, storage: string) =>
    client.of(persistentVolumeClaim).create(
      {
        metadata: { name },
        spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
      },
      'default',
      ctx,
    )
  await client.of(persistentVolume).create(
    {
      metadata: { name: 'disk' },
      spec: {
        capacity: { storage: '10Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path: '/disk' },
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'host', operator: 'In', values: ['node-1'] }] }],
          },
        },
      },
    },
    '',
    ctx,
  )
  await claim('small', '5Gi')
  await claim('large', '50Gi')
  await clock.advance('1s')
  const using = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] })
  await makePod(cluster, 'too-large', using('large'))
  await makePod(cluster, 'user', using('small'))
  await makePod(cluster, 'lost', using('none'))
  await clock.advance('2s')
  match(await messageOf(cluster, 'too-large'), /2 node\(s\) didn't find available persistent volumes to bind/)
  match(await messageOf(cluster, 'lost'), /^0\/2 nodes are available: persistentvolumeclaim "none" not found\./)
  const { claimRef } = (await client.of(persistentVolume).get('disk', '', ctx)).spec
  equal(claimRef?.name, 'small')
  // Binds the claim as the volume controller does, if none runs here.
  await client
    .of(persistentVolumeClaim)
    .patch(
      'small',
      'default',
      { metadata: { annotations: { 'pv.kubernetes.io/bind-completed': 'yes' } }, spec: { volumeName: 'disk' } },
      'merge',
      ctx,
    )
    .catch(() => {})
  await clock.advance('5s')
  equal(await nodeOf(cluster, 'user'), 'node-1')
})

test('devices: one for each pod, on the node that has them, if their selectors match', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  await client.of(deviceClass).create({ metadata: { name: 'gpu' }, spec: {} }, '', ctx)
  await client.of(resourceSlice).create(
    {
      metadata: { name: 'slice' },
      spec: {
        driver: 'gpu.example.com',
        nodeName: 'node-1',
        pool: { name: 'node-1', generation: 1, resourceSliceCount: 1 },
        devices: [{ name: 'gpu-0' }],
      },
    },
    '',
    ctx,
  )
  const claim = (name: string, exactly: object = {}) =>
    client.of(resourceClaim).create(
      {
        metadata: { name },
        spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', ...exactly } }] } },
      },
      'default',
      ctx,
    )
  const driven = (driver: string) => ({ selectors: [{ cel: { expression: `device.driver == "${driver}"` } }] })
  await claim('one', driven('gpu.example.com'))
  await claim('two')
  await claim('picky', driven('other.example.com'))
  await clock.advance('1s')
  const using = (resourceClaimName: string) => ({
    resourceClaims: [{ name: 'gpu', resourceClaimName }],
    containers: [{ name: 'c', image: 'x', resources: { claims: [{ name: 'gpu' }] } }],
  })
  await makePod(cluster, 'third', using('picky'))
  await clock.advance('5s')
  match(await messageOf(cluster, 'third'), /2 cannot allocate all claims/)
  await makePod(cluster, 'first', using('one'))
  await clock.advance('5s')
  equal(await nodeOf(cluster, 'first'), 'node-1')
  const { allocation, reservedFor } = (await client.of(resourceClaim).get('one', 'default', ctx)).status
  deepEqual(
    allocation?.devices.results?.map(({ request, pool, device }) => [request, pool, device]),
    [['r', 'node-1', 'gpu-0']],
  )
  deepEqual(
    reservedFor?.map(({ resource, name }) => [resource, name]),
    [['pods', 'first']],
  )
  await makePod(cluster, 'second', using('two'))
  await clock.advance('5s')
  match(await messageOf(cluster, 'second'), /2 cannot allocate all claims/)
})

test('a claim that would need an endless search ends the attempt, and other pods are scheduled', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client } = cluster
  await client.of(deviceClass).create({ metadata: { name: 'gpu' }, spec: {} }, '', ctx)
  const pool = { name: 'p', generation: 1, resourceSliceCount: 1 }
  const devices = Array.from({ length: 32 }, (_, index) => ({ name: `gpu-${index}` }))
  const spec = { driver: 'gpu.example.com', pool, nodeName: 'node-0', devices }
  await client.of(resourceSlice).create({ metadata: { name: 's' }, spec }, '', ctx)
  const request = (name: string, exactly: object) => ({ name, exactly: { deviceClassName: 'gpu', ...exactly } })
  const selectors = [{ cel: { expression: `device.driver == 'other.example.com'` } }]
  const claims = {
    endless: [request('r', { count: 16 }), request('none', { selectors })],
    large: [request('r', { count: 33 })],
  }
  for (const [name, requests] of Object.entries(claims)) {
    await client.of(resourceClaim).create({ metadata: { name }, spec: { devices: { requests } } }, 'default', ctx)
    await makePod(cluster, name, { resourceClaims: [{ name: 'gpu', resourceClaimName: name }] })
  }
  await makePod(cluster, 'plain')
  await cluster.clock.advance('5s')
  equal(
    await messageOf(cluster, 'endless'),
    'running "DynamicResources" filter plugin: node node-0: timed out trying to allocate devices',
  )
  equal(
    await messageOf(cluster, 'large'),
    'running "DynamicResources" filter plugin: claim default/large: number of requested devices 33 exceeds the claim limit of 32',
  )
  equal(await nodeOf(cluster, 'plain'), 'node-0')
})

test('claims from a template: each pod gets its own claim with a device, and both are deleted with it', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  await client.of(deviceClass).create({ metadata: { name: 'gpu' }, spec: {} }, '', ctx)
  const pool = { name: 'node-1', generation: 1, resourceSliceCount: 1 }
  const devices = [{ name: 'gpu-0' }, { name: 'gpu-1' }]
  const sliceSpec = { driver: 'gpu.example.com', nodeName: 'node-1', pool, devices }
  await client.of(resourceSlice).create({ metadata: { name: 'slice' }, spec: sliceSpec }, '', ctx)
  const using = {
    resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'gpu' }],
    containers: [{ name: 'c', image: 'x', resources: { claims: [{ name: 'gpu' }] } }],
  }
  for (const name of ['first', 'second', 'third']) await makePod(cluster, name, using)
  await clock.advance('5s')
  equal(await nodeOf(cluster, 'first'), undefined)
  const { items: events } = await client.of(event).list({ namespace: 'default' }, ctx)
  const missing = 'resource claim template "gpu": resourceclaimtemplate.resource.k8s.io "gpu" not found'
  deepEqual(
    events
      .filter(({ reason }) => reason === 'FailedResourceClaimCreation')
      .map(({ message, involvedObject }) => [involvedObject.name, message]),
    ['first', 'second', 'third'].map((name) => [name, `PodResourceClaim gpu: ${missing}`]),
  )
  const requests = [{ name: 'r', exactly: { deviceClassName: 'gpu' } }]
  await client
    .of(resourceClaimTemplate)
    .create({ metadata: { name: 'gpu' }, spec: { spec: { devices: { requests } } } }, 'default', ctx)
  await clock.advance('10s')
  const users = async () => {
    const { items } = await client.of(resourceClaim).list({ namespace: 'default' }, ctx)
    return items
      .map(({ metadata, status: { reservedFor = [], allocation } }) => [
        metadata.ownerReferences?.[0]?.name,
        reservedFor.map(({ name }) => name).join(),
        allocation?.devices.results?.length ?? 0,
      ])
      .toSorted()
  }
  const has = (name: string) => [name, name, 1]
  deepEqual(await users(), [has('first'), has('second'), ['third', '', 0]])
  for (const name of ['first', 'second']) equal(await nodeOf(cluster, name), 'node-1')
  const { status } = await client.of(pod).get('first', 'default', ctx)
  match(status.resourceClaimStatuses?.[0]?.resourceClaimName ?? '', /^first-gpu-[0-9a-z]{5}$/)
  match(await messageOf(cluster, 'third'), /cannot allocate all claims/)
  await client.of(pod).delete('first', 'default', {}, ctx)
  await clock.advance('1m')
  deepEqual(await users(), [has('second'), has('third')])
})

test('devices with binding conditions: the pod waits for them, and other devices are tried when they fail', async () => {
  await using cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  await client.of(deviceClass).create({ metadata: { name: 'gpu' }, spec: {} }, '', ctx)
  const conditions = { bindingConditions: ['attached'], bindingFailureConditions: ['broken'] }
  const pool = { name: 'node-0', generation: 1, resourceSliceCount: 1 }
  const devices = [{ name: 'fabric', bindsToNode: true, ...conditions }]
  const spec = { driver: 'd.example.com', allNodes: true, pool, devices }
  await client.of(resourceSlice).create({ metadata: { name: 'slice' }, spec }, '', ctx)
  const requests = [{ name: 'r', exactly: { deviceClassName: 'gpu' } }]
  await client.of(resourceClaim).create({ metadata: { name: 'one' }, spec: { devices: { requests } } }, 'default', ctx)
  await makePod(cluster, 'user', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'one' }] })
  await clock.advance('5s')
  const claim = () => client.of(resourceClaim).get('one', 'default', ctx)
  deepEqual((await claim()).status.allocation?.devices.results?.[0]?.bindingConditions, ['attached'])
  equal(await nodeOf(cluster, 'user'), undefined)
  const say = async (type: string) => {
    const found = await claim()
    const condition = {
      type,
      status: 'True' as const,
      reason: 'Reported',
      message: '',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    }
    const reported = [{ driver: spec.driver, pool: pool.name, device: 'fabric', conditions: [condition] }]
    await client.of(resourceClaim).updateStatus({ ...found, status: { ...found.status, devices: reported } }, ctx)
  }
  await say('broken')
  await clock.advance('200ms')
  match(await messageOf(cluster, 'user'), /claim binding failed/)
  await clock.advance('20s')
  equal(await nodeOf(cluster, 'user'), undefined)
  await say('attached')
  await clock.advance('5s')
  equal(await nodeOf(cluster, 'user'), 'node-0')
})

test('devices as extended resources: a class provides the resource, and the pod gets a claim for it', async () => {
  await using cluster = await startCluster({ nodes: 2 })
  const { client, clock } = cluster
  const spec = {
    driver: 'gpu.example.com',
    nodeName: 'node-1',
    pool: { name: 'node-1', generation: 1, resourceSliceCount: 1 },
    devices: [{ name: 'gpu-0' }, { name: 'gpu-1' }],
  }
  await client.of(resourceSlice).create({ metadata: { name: 'slice' }, spec }, '', ctx)
  const resource = 'example.com/gpu'
  const wanting = (count: string, name = resource) => ({
    containers: [{ name: 'c', image: 'x', resources: { limits: { [name]: count } } }],
  })
  await makePod(cluster, 'early', wanting('2'))
  await clock.advance('5s')
  match(await messageOf(cluster, 'early'), /2 Insufficient example.com\/gpu/)
  const metadata = { name: 'gpu' }
  await client.of(deviceClass).create({ metadata, spec: { extendedResourceName: resource } }, '', ctx)
  await clock.advance('20s')
  const placed = await getPod(cluster, 'early')
  equal(placed.spec.nodeName, 'node-1')
  const { resourceClaimName = '', requestMappings } = placed.status.extendedResourceClaimStatus ?? {}
  match(resourceClaimName, /^early-extended-resources-[0-9a-z]{5}$/)
  deepEqual(requestMappings, [{ containerName: 'c', resourceName: resource, requestName: 'container-0-request-0' }])
  const made = await client.of(resourceClaim).get(resourceClaimName, 'default', ctx)
  equal(made.metadata.annotations?.['resource.kubernetes.io/extended-resource-claim'], 'true')
  equal(made.metadata.ownerReferences?.[0]?.uid, placed.metadata.uid)
  deepEqual(
    made.status.allocation?.devices.results?.map(({ request, device }) => `${request} ${device}`),
    ['container-0-request-0 gpu-0', 'container-0-request-0 gpu-1'],
  )
  equal(made.status.reservedFor?.[0]?.name, 'early')
  await makePod(cluster, 'late', wanting('1', 'deviceclass.resource.kubernetes.io/gpu'))
  await clock.advance('5s')
  match(await messageOf(cluster, 'late'), /2 cannot allocate all claims/)
  await client.of(pod).delete('early', 'default', {}, ctx)
  await clock.advance('60s')
  equal(await client.of(resourceClaim).find(resourceClaimName, 'default', ctx), undefined)
  equal(await nodeOf(cluster, 'late'), 'node-1')
})

test('two profiles: one packs nodes, the other spreads; pods of an unknown scheduler are ignored', async () => {
  const packing = { type: 'MostAllocated', resources: [{ name: 'cpu', weight: 1 }] } as const
  await using cluster = await startCluster({
    nodes: 3,
    schedulerConfiguration: {
      profiles: [
        {},
        {
          schedulerName: 'packer',
          plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit' }] } },
          pluginConfig: [{ name: 'NodeResourcesFit', args: { scoringStrategy: packing } }],
        },
      ],
    },
  })
  await cluster.clock.advance('1s')
  for (const name of ['p1', 'p2', 'p3']) {
    await makePod(cluster, name, cpu('1', { schedulerName: 'packer' }))
    await cluster.clock.advance('1s')
  }
  await makePod(cluster, 'unknown', { schedulerName: 'unknown' })
  const packed = await Promise.all(['p1', 'p2', 'p3'].map((name) => nodeOf(cluster, name)))
  equal(new Set(packed).size, 1)
  await makePod(cluster, 'd1', cpu('1'))
  await cluster.clock.advance('1s')
  await makePod(cluster, 'd2', cpu('1'))
  await cluster.clock.advance('2s')
  equal(new Set([packed[0], await nodeOf(cluster, 'd1'), await nodeOf(cluster, 'd2')]).size, 3)
  equal(await nodeOf(cluster, 'unknown'), undefined)
})
