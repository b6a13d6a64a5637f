// Tables for the plans of the Endpoints, EndpointSlice and EndpointSlice mirroring controllers.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { endpoints, type Endpoints } from '../../api/core/v1/service/endpoints.ts'
import { node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice, type EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { Change, Plan, PlanController } from '../runtime/controller.ts'
import { aPod, firstObject, labels, made, planOf, type PodDetails, shown, viewOf } from '../runtime/plan.harness.ts'
import { endpointSliceController } from './endpoint-slice.ts'
import { endpointSliceMirroringController } from './endpoint-slice-mirroring.ts'
import { endpointsController } from './endpoints.ts'
import { podsOfServices } from './pod-endpoints.ts'

const aService = (spec: object = {}) =>
  made(service, 'web', { spec: { clusterIP: '10.96.0.9', selector: labels, ports: [{ port: 80 }], ...spec } })
const backend = (name: string, ip: string, details: PodDetails & Record<string, unknown> = {}): Pod =>
  aPod(name, { ...details, status: { podIP: ip, podIPs: [{ ip }], ...details.status } })
const ending = { deletionTimestamp: '2030-01-01T00:00:00Z' }
const slice = (body: object, name = 'web-1'): EndpointSlice =>
  made(endpointSlice, name, {
    metadata: {
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
    },
    addressType: 'IPv4',
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
    ...body,
  })

const drawn = (changes: readonly Change[]): string[] =>
  changes.map(({ kind, object }) => {
    const { addressType, ports, endpoints: all } = object as EndpointSlice
    const each = (all ?? []).map(({ addresses, conditions: { ready, serving, terminating } }) =>
      [addresses.join(), ready && 'ready', serving && 'serving', terminating && 'ending'].filter(Boolean).join(' '),
    )
    return `${kind} ${addressType} ${(ports ?? []).map(({ port }) => port).join()}: ${each.join('; ')}`
  })

const slices: [why: string, object: ApiObject, others: ApiObject[], changes: string[]][] = [
  [
    'lists the pods of its Service',
    aService(),
    [backend('a', '10.0.0.1'), backend('b', '10.0.0.2', { ready: false })],
    ['create IPv4 80: 10.0.0.1 ready serving; 10.0.0.2'],
  ],
  ['is created for a Service without pods', aService(), [], ['create IPv4 : ']],
  [
    'lists a terminating pod as serving and not ready',
    aService(),
    [backend('a', '10.0.0.1', ending)],
    ['create IPv4 80: 10.0.0.1 serving ending'],
  ],
  ['leaves out finished pods', aService(), [backend('a', '10.0.0.1', { phase: 'Failed' })], ['create IPv4 : ']],
  [
    'lists unready pods as ready with publishNotReadyAddresses',
    aService({ publishNotReadyAddresses: true }),
    [backend('a', '10.0.0.1', { ready: false })],
    ['create IPv4 80: 10.0.0.1 ready'],
  ],
  [
    'is created for each address family',
    aService({ ipFamilies: ['IPv4', 'IPv6'] }),
    [backend('a', '10.0.0.1', { status: { podIPs: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }] } })],
    ['create IPv4 80: 10.0.0.1 ready serving', 'create IPv6 80: fd00::1 ready serving'],
  ],
  [
    'is created for each number of a named port',
    aService({ ports: [{ port: 80, targetPort: 'web' }] }),
    [
      backend('a', '10.0.0.1', {
        spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 1 }] }] },
      }),
      backend('b', '10.0.0.2', {
        spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: 2 }] }] },
      }),
    ],
    ['create IPv4 1: 10.0.0.1 ready serving', 'create IPv4 2: 10.0.0.2 ready serving'],
  ],
  ['is not created for a Service without a selector', aService({ selector: {} }), [backend('a', '10.0.0.1')], []],
  [
    'that is the last one is emptied',
    aService(),
    [slice({ endpoints: [{ addresses: ['10.0.0.1'] }], ports: [] })],
    ['update IPv4 : '],
  ],
  [
    'with outdated ports is rewritten',
    aService(),
    [backend('a', '10.0.0.1'), slice({ ports: [{ name: '', port: 9, protocol: 'TCP' }] })],
    ['update IPv4 80: 10.0.0.1 ready serving'],
  ],
  [
    'is kept without ports when the last endpoint is removed',
    aService(),
    [slice({ endpoints: [{ addresses: ['10.0.0.1'] }], ports: [{ name: '', port: 80, protocol: 'TCP' }] })],
    ['update IPv4 : '],
  ],
  [
    'is the only one of several that is kept then',
    aService(),
    [80, 81].map((port) => slice({ ports: [{ name: '', port, protocol: 'TCP' }] }, `web-${port}`)),
    ['update IPv4 : ', 'delete IPv4 81: '],
  ],
  ['that is empty is not changed', aService(), [slice({ ports: [] })], []],
  [
    'is not rewritten for another address family',
    aService({ ipFamilies: ['IPv6'] }),
    [slice({ ports: [{ name: '', port: 9, protocol: 'TCP' }] })],
    ['create IPv6 : ', 'delete IPv4 9: '],
  ],
]
for (const [why, object, others, changes] of slices)
  test(`an EndpointSlice ${why}`, () =>
    deepEqual(drawn(planOf(endpointSliceController, object, ...others).changes), changes))

test('endpoints stay in their slices, and a slice has at most a hundred', () => {
  const pods = Array.from({ length: 150 }, (_, index) => backend(`p${index}`, `10.0.1.${index}`))
  const created = planOf(endpointSliceController, aService(), ...pods).changes
  deepEqual(
    created.map(({ object }) => (object as EndpointSlice).endpoints?.length),
    [100, 50],
  )
  const existing = created.map(({ object }, index) => slice(object, `web-${index}`))
  deepEqual(planOf(endpointSliceController, aService(), ...pods, ...existing).changes, [])
  const fewer = planOf(endpointSliceController, aService(), ...pods.slice(1), ...existing).changes
  deepEqual(shown(fewer), ['update endpointslice web-0'])
})

test('an endpoint has its node, zone, host name and hints', () => {
  const object = aService({ clusterIP: 'None', trafficDistribution: 'PreferSameNode' })
  const zoned = made(node, 'n', { metadata: { labels: { 'topology.kubernetes.io/zone': 'z' } } })
  const named = backend('a', '10.0.0.1', { spec: { hostname: 'a', subdomain: 'web' } })
  const { metadata, endpoints: written } = firstObject<EndpointSlice>(
    planOf(endpointSliceController, object, named, zoned),
  )
  const [first] = written ?? []
  equal(metadata.labels?.['service.kubernetes.io/headless'], '')
  deepEqual(
    [first?.nodeName, first?.zone, first?.hostname, first?.hints],
    ['n', 'z', 'a', { forZones: [{ name: 'z' }], forNodes: [{ name: 'n' }] }],
  )
})

test('Endpoints list ready and unready addresses, and are truncated', () => {
  const made1 = firstObject<Endpoints>(
    planOf(
      endpointsController,
      aService(),
      backend('b', '10.0.0.2', { ready: false }),
      backend('a', '10.0.0.1'),
      backend('c', '10.0.0.3', ending),
    ),
  )
  deepEqual(
    made1.subsets?.map(({ addresses, notReadyAddresses, ports }) => [
      addresses?.map(({ ip }) => ip),
      notReadyAddresses?.map(({ ip }) => ip),
      ports,
    ]),
    [[['10.0.0.1'], ['10.0.0.2'], [{ port: 80, protocol: 'TCP' }]]],
  )
  const existing = made(endpoints, 'web', made1)
  deepEqual(
    planOf(
      endpointsController,
      aService(),
      backend('b', '10.0.0.2', { ready: false }),
      backend('a', '10.0.0.1'),
      existing,
    ).changes.length,
    0,
  )
  const many = Array.from({ length: 1001 }, (_, index) => backend(`p${index}`, `10.${index >> 8}.0.${index & 255}`))
  const large = firstObject<Endpoints>(planOf(endpointsController, aService(), ...many))
  deepEqual(
    [large.subsets?.[0]?.addresses?.length, large.metadata.annotations?.['endpoints.kubernetes.io/over-capacity']],
    [1000, 'truncated'],
  )
})

test('manually created Endpoints are mirrored for a Service without a selector, and for no other', () => {
  const byHand = (body: object = {}) =>
    made(endpoints, 'web', {
      subsets: [{ addresses: [{ ip: '192.0.2.1' }], notReadyAddresses: [{ ip: 'fd00::9' }], ports: [{ port: 1 }] }],
      ...body,
    })
  const plan = (object: Endpoints, ...others: ApiObject[]) =>
    drawn(planOf(endpointSliceMirroringController, object, ...others).changes)
  deepEqual(plan(byHand(), aService({ selector: {} })), ['create IPv4 1: 192.0.2.1 ready', 'create IPv6 1: fd00::9'])
  deepEqual(plan(byHand(), aService()), [])
  deepEqual(plan(byHand()), [])
  deepEqual(
    plan(
      byHand({ metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } }),
      aService({ selector: {} }),
    ),
    [],
  )
})

test('Endpoints that are being deleted are not mirrored', () => {
  const object = made(endpoints, 'web', { metadata: ending, subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] })
  deepEqual(planOf(endpointSliceMirroringController, object, aService({ selector: {} })), { changes: [] })
})

test('a mirrored slice has up to 1,000 addresses, and an event counts those that are skipped', () => {
  const addresses = Array.from({ length: 1003 }, (_, index) => ({ ip: `10.3.${index >> 8}.${index & 255}` }))
  const byHand = made(endpoints, 'web', { subsets: [{ addresses, ports: [{ port: 1 }] }] })
  const { changes, events } = planOf(endpointSliceMirroringController, byHand, aService({ selector: {} }))
  deepEqual(
    changes.map(({ object }) => (object as EndpointSlice).endpoints?.length),
    [1000],
  )
  deepEqual(events, [
    {
      type: 'Warning',
      reason: 'TooManyAddressesToMirror',
      message:
        'A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 3 addresses were skipped',
    },
  ])
})

test('Endpoints over capacity omit addresses that are not ready first, and subsets keep their shares', () => {
  const withPort = (index: number, ready: boolean) =>
    backend(`p${index}`, `10.${ready ? 1 : 2}.${index >> 8}.${index & 255}`, {
      ready,
      spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort: (index % 3) + 1 }] }] },
    })
  const counts = (readyCount: number, notReadyCount: number) => {
    const pods = [
      ...Array.from({ length: readyCount }, (_, index) => withPort(index, true)),
      ...Array.from({ length: notReadyCount }, (_, index) => withPort(index + readyCount, false)),
    ]
    const object = aService({ ports: [{ port: 80, targetPort: 'web' }] })
    const { subsets, metadata } = firstObject<Endpoints>(planOf(endpointsController, object, ...pods))
    const shares = subsets?.map(({ addresses, notReadyAddresses }) => [addresses?.length, notReadyAddresses?.length])
    return { shares, annotation: metadata.annotations?.['endpoints.kubernetes.io/over-capacity'] }
  }
  deepEqual(counts(600, 300), {
    shares: [
      [200, 100],
      [200, 100],
      [200, 100],
    ],
    annotation: undefined,
  })
  deepEqual(counts(900, 300), {
    shares: [
      [300, 34],
      [300, 34],
      [300, 32],
    ],
    annotation: 'truncated',
  })
  deepEqual(counts(1200, 3), {
    shares: [
      [334, undefined],
      [334, undefined],
      [332, undefined],
    ],
    annotation: 'truncated',
  })
})

test('ports with the same addresses share a subset of the Endpoints', () => {
  const ports = [
    { name: 'web', port: 80, targetPort: 'web' },
    { name: 'a', port: 81 },
    { name: 'b', port: 82 },
  ]
  const withPort = (name: string, ip: string, containerPort: number) =>
    backend(name, ip, { spec: { containers: [{ name: 'c', image: 'i', ports: [{ name: 'web', containerPort }] }] } })
  const pods = [withPort('x', '10.0.0.1', 8080), withPort('y', '10.0.0.2', 9090)]
  const { subsets } = firstObject<Endpoints>(planOf(endpointsController, aService({ ports }), ...pods))
  deepEqual(
    subsets?.map((subset) => [subset.addresses?.map(({ ip }) => ip), subset.ports?.map(({ port }) => port)]),
    [
      [['10.0.0.1'], [8080]],
      [
        ['10.0.0.1', '10.0.0.2'],
        [81, 82],
      ],
      [['10.0.0.2'], [9090]],
    ],
  )
})

test('a pod enqueues the Services that select it when a field of its endpoint changes', () => {
  const view = viewOf([aService()])
  const enqueued = (now: Pod | undefined, before: Pod | undefined) => [
    ...podsOfServices.enqueues({ key: 'default/a', now, before } as never, view),
  ]
  const pod = backend('a', '10.0.0.1')
  deepEqual(enqueued(pod, undefined), ['default/web'])
  deepEqual(enqueued({ ...pod, metadata: { ...pod.metadata, resourceVersion: '9' } }, pod), [])
  deepEqual(enqueued(backend('a', '10.0.0.1', { ready: false }), pod), ['default/web'])
  deepEqual(enqueued(backend('a', '10.0.0.1', { labels: {} }), pod), ['default/web'], 'it has left')
})

test('the trigger time is that of the earliest change that was not observed before', () => {
  const trigger = 'endpoints.kubernetes.io/last-change-trigger-time'
  for (const controller of [endpointSliceController, endpointsController] as unknown as PlanController[]) {
    const at = ({ changes: [first] }: Plan) =>
      first === undefined ? 'nothing' : (first.object as ApiObject).metadata.annotations?.[trigger]
    const object = { ...aService(), metadata: { ...aService().metadata, creationTimestamp: '2029-12-31T23:00:00Z' } }
    const early = backend('a', '10.0.0.1', { readyForMs: 90_000 })
    const first = controller.plan(object, viewOf([early]))
    equal(at(first), '2029-12-31T23:00:00Z', 'the Service is new')
    const kind = controller === (endpointsController as unknown) ? endpoints : endpointSlice
    const written = made(kind as typeof endpoints, 'web', firstObject<object>(first))
    const late = ['b', 'c'].map((name, index) =>
      backend(name, `10.0.1.${index}`, { readyForMs: 5_000 - index * 1_000 }),
    )
    const view = (pods: readonly Pod[]) => ({ ...viewOf([early, ...pods, written]), state: first.nextState })
    const second = controller.plan(object, view(late))
    equal(at(second), '2029-12-31T23:59:55Z', 'two pods are new')
    equal(at(controller.plan(object, view([]))), 'nothing', 'a new trigger time alone causes no write')
    const gone = controller.plan(object, { ...viewOf([written]), state: first.nextState })
    equal(at(gone), undefined, 'the time of a deletion is unknown')
  }
})

const zoned = (name: string, zone: string | undefined, cpu: string, extra: object = {}) =>
  made(node, name, {
    metadata: { labels: zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }, ...extra },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] },
  })
const on = (nodeName: string, count: number): Pod[] =>
  Array.from({ length: count }, (_, index) =>
    backend(`${nodeName}-${index}`, `10.${nodeName.charCodeAt(0)}.0.${index}`, { nodeName }),
  )

const hinting: [why: string, others: ApiObject[], hints: string, note: string][] = [
  [
    'endpoints serve their own zone',
    [zoned('m', 'x', '4'), zoned('n', 'y', '4'), ...on('m', 3), ...on('n', 3)],
    'x x x y y y',
    'Topology Aware Hints has been enabled',
  ],
  [
    'endpoints move from a zone with too many to one with too few',
    [zoned('m', 'x', '4'), zoned('n', 'y', '4'), ...on('m', 5), ...on('n', 1)],
    'y y x x x y',
    'Topology Aware Hints has been enabled',
  ],
  [
    'zones are weighted by the CPUs of their nodes',
    [zoned('m', 'x', '2'), zoned('n', 'y', '6'), ...on('m', 4), ...on('n', 4)],
    'y y x x y y y y',
    'Topology Aware Hints has been enabled',
  ],
  [
    'too few endpoints for all zones',
    [zoned('m', 'x', '4'), zoned('n', 'y', '4'), ...on('m', 1)],
    '-',
    'Insufficient number of endpoints (1 endpoints, 2 zones)',
  ],
  [
    'every distribution would overload an endpoint',
    [zoned('m', 'x', '4'), zoned('n', 'y', '4'), zoned('o', 'z', '4'), ...on('m', 4)],
    '- - - -',
    'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)',
  ],
  [
    'a node without a zone',
    [zoned('m', 'x', '4'), zoned('n', undefined, '4'), ...on('m', 4)],
    '- - - -',
    'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  ],
  [
    'a single zone',
    [zoned('m', 'x', '4'), ...on('m', 4)],
    '- - - -',
    'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
  ],
  [
    'an endpoint without a zone',
    [zoned('m', 'x', '4'), zoned('n', 'y', '4'), ...on('m', 5), ...on('lost', 1)],
    '- - - - - -',
    'One or more endpoints do not have a zone specified',
  ],
]
for (const [why, others, hints, note] of hinting)
  test(`topology mode Auto: ${why}`, () => {
    const object = made(service, 'web', {
      metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
      spec: { selector: labels, ports: [{ port: 80 }], trafficDistribution: 'PreferClose' },
    })
    const plan = planOf(endpointSliceController, object, ...others)
    const found = firstObject<EndpointSlice>(plan).endpoints ?? []
    const byName = found.toSorted((a, b) => ((a.targetRef?.name ?? '') < (b.targetRef?.name ?? '') ? -1 : 1))
    equal(byName.map((each) => each.hints?.forZones?.map(({ name }) => name).join() ?? '-').join(' '), hints)
    deepEqual(
      plan.events?.map(({ message }) => message),
      [`${note}, addressType: IPv4`],
    )
    const again = (endpointSliceController as PlanController).plan(object, { ...viewOf(others), state: plan.nextState })
    equal(again.events?.length, hints.includes('-') ? 1 : 0, 'the event that hints are enabled is recorded once')
  })

test('hints are removed with the topology mode, and an event is recorded', () => {
  const others = [zoned('m', 'x', '4'), zoned('n', 'y', '4'), ...on('m', 3), ...on('n', 3)]
  const kept = { seen: { service: '', pods: new Map() }, hinted: ['IPv4'] }
  const { events, changes } = (endpointSliceController as PlanController).plan(aService(), {
    ...viewOf(others),
    state: kept,
  })
  deepEqual(
    events?.map(({ reason, message }) => `${reason}: ${message}`),
    ['TopologyAwareHintsDisabled: Topology Aware Hints has been disabled, addressType: IPv4'],
  )
  equal(
    (changes[0]?.object as EndpointSlice | undefined)?.endpoints?.some(({ hints }) => hints !== undefined),
    false,
  )
})

test('hints for the traffic distributions', () => {
  const others = [zoned('m', 'x', '4'), ...on('m', 1), ...on('lost', 1)]
  const hints = (trafficDistribution: string) =>
    firstObject<EndpointSlice>(planOf(endpointSliceController, aService({ trafficDistribution }), ...others))
      .endpoints?.toSorted((a, b) => (a.nodeName === 'm' ? -1 : b.nodeName === 'm' ? 1 : 0))
      .map((each) => each.hints)
  const forZones = [{ name: 'x' }]
  deepEqual(hints('PreferClose'), [{ forZones }, undefined])
  deepEqual(hints('PreferSameZone'), [{ forZones }, undefined])
  deepEqual(hints('PreferSameNode'), [{ forZones, forNodes: [{ name: 'm' }] }, { forNodes: [{ name: 'lost' }] }])
})
