import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryStore } from '../../../../store/memory-store.ts'
import { VirtualClock } from '../../../../base/time/virtual-clock.ts'
import { ConfigReader } from '../../../config/config-reader.ts'
import { startServer, type Harness } from '../../../server.harness.ts'
import { limitedResources } from './limited-resources.ts'
import { defaultAdmissionPlugins } from '../../plugins.ts'
import { resourceQuotaAdmission } from './resource-quota.ts'
import { openPolicies } from '../../../open-policies.ts'

const base = '/api/v1/namespaces/default'
const container = (resources: object = {}, name = 'c') => ({ name, image: 'i', resources })
const podOf = (spec: object = {}, metadata: object = { generateName: 'p-' }) => ({
  metadata,
  spec: { containers: [container()], ...spec },
})

/** A quota with the status that its controller writes. */
async function limit(server: Harness, hard: Record<string, string>, more: object = {}, name = 'q'): Promise<void> {
  const made = await server.call('POST', `${base}/resourcequotas`, { metadata: { name }, spec: { hard, ...more } })
  equal(made.status, 201, JSON.stringify(made.body))
  const used = Object.fromEntries(Object.keys(hard).map((each) => [each, '0']))
  const put = await server.call('PUT', `${base}/resourcequotas/${name}/status`, {
    ...made.body,
    status: { hard, used },
  })
  equal(put.status, 200, JSON.stringify(put.body))
}

const usedOf = async (server: Harness, name = 'q'): Promise<Record<string, string>> =>
  (await server.call('GET', `${base}/resourcequotas/${name}`)).body.status.used

const answerTo = async (server: Harness, path: string, object: object): Promise<string> => {
  const { status, body } = await server.call('POST', path.startsWith('/') ? path : `${base}/${path}`, object)
  return status === 201 ? 'made' : body.message
}

test('of 50 concurrent creates against a quota of 10, exactly 10 succeed and used is exact', async () => {
  await using server = await startServer()
  await limit(server, { pods: '10', 'requests.cpu': '5' })
  const body = podOf({ containers: [container({ requests: { cpu: '250m' } })] })
  const answers = await Promise.all(Array.from({ length: 50 }, () => server.call('POST', `${base}/pods`, body)))
  equal(answers.filter(({ status }) => status === 201).length, 10)
  equal(answers.filter(({ status }) => status === 403).length, 40)
  deepEqual(await usedOf(server), { pods: '10', 'requests.cpu': '2500m' })
  equal((await server.call('GET', `${base}/pods`)).body.items.length, 10)
})

test('two API servers on one store do not exceed the quota', async () => {
  const clock = new VirtualClock()
  const store = new MemoryStore(clock)
  {
    await using one = await startServer(openPolicies, { clock, store })
    await using two = await startServer(openPolicies, { clock, store })
    await limit(one, { configmaps: '10' })
    while ((await two.call('GET', `${base}/resourcequotas/q`)).body.status?.used === undefined) await Promise.resolve()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        (index % 2 === 0 ? one : two).call('POST', `${base}/configmaps`, { metadata: { name: `c${index}` } }),
      ),
    )
    equal(answers.filter(({ status }) => status === 201).length, 10)
    deepEqual(await usedOf(one), { configmaps: '10' })
  }
  await store.close()
})

test('a failed write, a dry run and a name conflict do not use the quota', async () => {
  await using server = await startServer()
  await limit(server, { pods: '2' })
  const named = podOf({}, { name: 'a' })
  equal(await answerTo(server, 'pods?dryRun=All', named), 'made')
  equal(await answerTo(server, 'pods', named), 'made')
  equal(await answerTo(server, 'pods', named), 'pods "a" already exists')
  deepEqual(await usedOf(server), { pods: '1' })
  equal(await answerTo(server, 'pods', podOf({}, { name: 'b' })), 'made')
  const exceeded = 'pods "c" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2'
  equal(await answerTo(server, 'pods?dryRun=All', podOf({}, { name: 'c' })), exceeded)
  equal(await answerTo(server, 'pods', podOf({}, { name: 'c' })), exceeded)
})

const cpu = (requests: string, limits: string) => container({ requests: { cpu: requests }, limits: { cpu: limits } })

const claims = '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims'
const claimOf = (...requests: object[]) => ({ metadata: { name: 'c' }, spec: { devices: { requests } } })

const rows: [
  why: string,
  hard: Record<string, string>,
  path: string,
  object: object,
  answer: string,
  used: Record<string, string>,
][] = [
  [
    'containers must set a limited resource',
    { 'requests.cpu': '1', 'limits.memory': '1Gi' },
    'pods',
    podOf({ initContainers: [container({}, 'i')] }, { name: 'p' }),
    'pods "p" is forbidden: failed quota: q: must specify limits.memory for: c,i; requests.cpu for: c,i',
    { 'requests.cpu': '0', 'limits.memory': '0' },
  ],
  [
    'all exceeded resources are listed in order',
    { cpu: '100m', 'limits.cpu': '1', 'requests.cpu': '100m' },
    'pods',
    podOf({ containers: [cpu('200m', '1')] }, { name: 'p' }),
    'pods "p" is forbidden: exceeded quota: q, requested: cpu=200m,requests.cpu=200m, used: cpu=0,requests.cpu=0, limited: cpu=100m,requests.cpu=100m',
    { cpu: '0', 'limits.cpu': '0', 'requests.cpu': '0' },
  ],
  [
    'extended resources, huge pages and ephemeral storage',
    {
      'requests.example.com/gpu': '4',
      'hugepages-2Mi': '8Mi',
      'requests.ephemeral-storage': '2Gi',
      'count/pods': '2',
    },
    'pods',
    podOf({
      containers: [
        container({
          requests: { cpu: '1', 'ephemeral-storage': '1Gi' },
          limits: { 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' },
        }),
      ],
    }),
    'made',
    {
      'requests.example.com/gpu': '2',
      'hugepages-2Mi': '4Mi',
      'requests.ephemeral-storage': '1Gi',
      'count/pods': '1',
    },
  ],
  [
    'node ports and load balancers',
    { services: '2', 'services.nodeports': '5', 'services.loadbalancers': '1' },
    'services',
    {
      metadata: { name: 's' },
      spec: {
        type: 'LoadBalancer',
        ports: [
          { name: 'a', port: 1 },
          { name: 'b', port: 2 },
        ],
      },
    },
    'made',
    { services: '1', 'services.nodeports': '2', 'services.loadbalancers': '1' },
  ],
  [
    'storage in total and of a class',
    {
      'requests.storage': '3Gi',
      'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
      'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'slow.storageclass.storage.k8s.io/requests.storage': '1Gi',
    },
    'persistentvolumeclaims',
    {
      metadata: { name: 'c' },
      spec: {
        storageClassName: 'fast',
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: '1Gi' } },
      },
    },
    'made',
    {
      'requests.storage': '1Gi',
      'fast.storageclass.storage.k8s.io/requests.storage': '1Gi',
      'fast.storageclass.storage.k8s.io/persistentvolumeclaims': '1',
      'slow.storageclass.storage.k8s.io/requests.storage': '0',
    },
  ],
  [
    'devices of a class: the largest alternative, and allocationMode All',
    {
      'count/resourceclaims.resource.k8s.io': '2',
      'gpu.deviceclass.resource.k8s.io/devices': '100',
      'nic.deviceclass.resource.k8s.io/devices': '3',
    },
    claims,
    claimOf(
      { name: 'a', exactly: { deviceClassName: 'gpu', count: 2 } },
      { name: 'b', exactly: { deviceClassName: 'gpu', allocationMode: 'All' } },
      {
        name: 'c',
        firstAvailable: [
          { name: 'x', deviceClassName: 'nic', count: 1 },
          { name: 'y', deviceClassName: 'nic', count: 3 },
          { name: 'z', deviceClassName: 'gpu' },
        ],
      },
    ),
    'made',
    {
      'count/resourceclaims.resource.k8s.io': '1',
      'gpu.deviceclass.resource.k8s.io/devices': '35',
      'nic.deviceclass.resource.k8s.io/devices': '3',
    },
  ],
  [
    'more devices than the namespace may have',
    { 'gpu.deviceclass.resource.k8s.io/devices': '1' },
    claims,
    claimOf({ name: 'a', exactly: { deviceClassName: 'gpu', count: 2 } }),
    'resourceclaims.resource.k8s.io "c" is forbidden: exceeded quota: q, requested: gpu.deviceclass.resource.k8s.io/devices=2, used: gpu.deviceclass.resource.k8s.io/devices=0, limited: gpu.deviceclass.resource.k8s.io/devices=1',
    { 'gpu.deviceclass.resource.k8s.io/devices': '0' },
  ],
  [
    'the number of secrets',
    { secrets: '0', 'count/secrets': '1' },
    'secrets',
    { metadata: { name: 's' } },
    'secrets "s" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=0, limited: secrets=0',
    { secrets: '0', 'count/secrets': '0' },
  ],
]
for (const [why, hard, path, object, answer, used] of rows)
  test(`quota: ${why}`, async () => {
    await using server = await startServer()
    await limit(server, hard)
    equal(await answerTo(server, path, object), answer)
    deepEqual(await usedOf(server), used)
  })

test('objects of other groups are counted by their full name', async () => {
  await using server = await startServer()
  await limit(server, { 'count/leases.coordination.k8s.io': '1' })
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
  equal((await server.call('POST', leases, { metadata: { name: 'a' } })).status, 201)
  equal(
    (await server.call('POST', leases, { metadata: { name: 'b' } })).body.message,
    'leases.coordination.k8s.io "b" is forbidden: exceeded quota: q, requested: count/leases.coordination.k8s.io=1, used: count/leases.coordination.k8s.io=1, limited: count/leases.coordination.k8s.io=1',
  )
})

const affinity = {
  podAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: 'zone', namespaces: ['other'], labelSelector: { matchLabels: { a: 'b' } } },
    ],
  },
}
const selecting = (scopeName: string, operator: string, ...values: string[]) => ({
  scopeSelector: { matchExpressions: [{ scopeName, operator, ...(values.length === 0 ? {} : { values }) }] },
})
const scopeRows: [scope: object, counted: object, uncounted: object][] = [
  [{ scopes: ['Terminating'] }, { activeDeadlineSeconds: 5 }, {}],
  [{ scopes: ['NotTerminating'] }, {}, { activeDeadlineSeconds: 5 }],
  [{ scopes: ['BestEffort'] }, {}, { containers: [cpu('1m', '1m')] }],
  [{ scopes: ['NotBestEffort'] }, { containers: [cpu('1m', '1m')] }, {}],
  [{ scopes: ['NotBestEffort', 'Terminating'] }, { containers: [cpu('1m', '1m')], activeDeadlineSeconds: 5 }, {}],
  [selecting('PriorityClass', 'In', 'high'), { priorityClassName: 'high' }, { priorityClassName: 'low' }],
  [selecting('PriorityClass', 'NotIn', 'high'), {}, { priorityClassName: 'high' }],
  [selecting('PriorityClass', 'DoesNotExist'), {}, { priorityClassName: 'low' }],
  [{ scopes: ['PriorityClass'] }, { priorityClassName: 'low' }, {}],
  [selecting('CrossNamespacePodAffinity', 'Exists'), { affinity }, {}],
]
for (const [scope, counted, uncounted] of scopeRows)
  test(`quota scope ${JSON.stringify(scope)}`, async () => {
    await using server = await startServer()
    for (const [name, value] of [
      ['high', 2],
      ['low', 1],
    ])
      await server.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value })
    await limit(server, { pods: '5' }, scope)
    equal(await answerTo(server, 'pods', podOf(uncounted)), 'made')
    deepEqual(await usedOf(server), { pods: '0' })
    equal(await answerTo(server, 'pods', podOf(counted)), 'made')
    deepEqual(await usedOf(server), { pods: '1' })
  })

test('an update is charged for the increase; a quota without a computed status is rejected', async () => {
  await using server = await startServer()
  await limit(server, { 'services.nodeports': '2' })
  const spec = (count: number) => ({
    type: 'NodePort',
    ports: Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1 })),
  })
  equal(await answerTo(server, 'services', { metadata: { name: 's' }, spec: spec(1) }), 'made')
  const patch = (count: number) =>
    server.call(
      'PATCH',
      `${base}/services/s`,
      { spec: spec(count) },
      { 'content-type': 'application/merge-patch+json' },
    )
  equal((await patch(2)).status, 200)
  deepEqual(await usedOf(server), { 'services.nodeports': '2' })
  equal(
    (await patch(4)).body.message,
    'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=2, limited: services.nodeports=2',
  )
  equal((await patch(1)).status, 200)
  await limit(server, { secrets: '5' }, {}, 'late')
  const { body } = await server.call('GET', `${base}/resourcequotas/late`)
  await server.call('PUT', `${base}/resourcequotas/late/status`, { ...body, status: { hard: { secrets: '5' } } })
  equal(
    await answerTo(server, 'secrets', { metadata: { name: 's' } }),
    'secrets "s" is forbidden: status unknown for quota: late, resources: secrets',
  )
})

const limitedBy = (...entries: object[]) =>
  limitedResources(
    new ConfigReader({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'ResourceQuotaConfiguration',
      limitedResources: entries,
    }),
  )
const important = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] }
const limitedRows: [why: string, limited: object, hard: object, scope: object, spec: object, answer: string][] = [
  [
    'a resource that no quota limits',
    { resource: 'pods', matchContains: ['.cpu'] },
    { pods: '5' },
    {},
    { containers: [cpu('1m', '1m')] },
    'pods "p" is forbidden: insufficient quota to consume: limits.cpu,requests.cpu',
  ],
  [
    'a resource that a quota limits',
    { resource: 'pods', matchContains: ['requests.cpu'] },
    { 'requests.cpu': '5' },
    {},
    { containers: [cpu('1m', '1m')] },
    'made',
  ],
  ['another resource', { resource: 'services', matchContains: ['pods'] }, {}, {}, {}, 'made'],
  [
    'a scope that no quota covers',
    { resource: 'pods', matchScopes: [important] },
    { pods: '5' },
    {},
    { priorityClassName: 'high' },
    'pods "p" is forbidden: insufficient quota to match these scopes: [{PriorityClass In [high]}]',
  ],
  [
    'a scope that a quota covers',
    { resource: 'pods', matchScopes: [important] },
    { pods: '5' },
    selecting('PriorityClass', 'In', 'high'),
    { priorityClassName: 'high' },
    'made',
  ],
  ['a pod outside the scope', { resource: 'pods', matchScopes: [important] }, { pods: '5' }, {}, {}, 'made'],
]
for (const [why, limited, hard, scope, spec, answer] of limitedRows)
  test(`limited resources: ${why}`, async () => {
    const admission = [
      ...defaultAdmissionPlugins.filter(({ name }) => name !== 'ResourceQuota'),
      resourceQuotaAdmission(limitedBy(limited)),
    ]
    await using server = await startServer({ ...openPolicies, admission })
    await server.call('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 2 })
    await limit(server, hard as Record<string, string>, scope)
    equal(await answerTo(server, 'pods', podOf(spec, { name: 'p' })), answer)
  })
