// Decision tables of the plugins for nodes and pods, from upstream's documentation.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { makeProfiles, parseSchedulerConfiguration } from '../framework/scheduler-configuration.ts'
import { node as nodeKind, type Node } from '../../api/core/v1/node/node.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import type { PluginDeps, SchedulerPlugin } from '../framework/framework.ts'
import { schedulerPlugins } from '../plugins.ts'
import { aNode, aPod, cycleOf, made, scoresOf, snapshotOf, verdictsOf } from '../scheduler.harness.ts'
import { imageLocality } from './image-locality.ts'
import { interPodAffinity } from './affinity/inter-pod-affinity.ts'
import { nodeAffinity } from './node-affinity.ts'
import { nodeName } from './node-name.ts'
import { nodePorts } from './node-ports.ts'
import { nodeResourcesBalancedAllocation } from './node-resources-balanced-allocation.ts'
import { nodeResourcesFit } from './node-resources-fit.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'
import { podTopologySpread } from './spread/pod-topology-spread.ts'
import { schedulingGates } from './scheduling-gates.ts'
import { taintToleration } from './taint-toleration.ts'

const configured = (plugin: SchedulerPlugin, args: unknown): SchedulerPlugin => ({
  ...plugin,
  ...plugin.configure?.(args, { extenders: [] as const } as Partial<PluginDeps> as PluginDeps),
})

const tainted = (effect: string) => aNode('n', { taints: [{ key: 'k', value: 'v', effect }] })
const labelled = (name: string, labels: Record<string, string>) => aNode(name, {}, undefined, labels)
const zoned = (name: string, zone: string) => labelled(name, { zone })
const required = (...nodeSelectorTerms: object[]) => ({
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
})
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
})
const field = (operator: string, ...values: string[]) => ({ matchFields: [{ key: 'metadata.name', operator, values }] })
const withPort = (name: string, hostPort: number, protocol = 'TCP', hostIP?: string) =>
  aPod(name, { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80, hostPort, protocol, hostIP }] }] })
const asking = (name: string, requests: object) => aPod(name, {}, requests)

/** A container of two cpus, with further fields. */
const running = (spec: object, ...initContainers: object[]) => aPod('p', { initContainers, ...spec }, { cpu: '2' })
const initially = (cpu: string, restartPolicy?: string) => ({
  ...{ name: 'i', image: 'i', resources: { requests: { cpu } } },
  ...(restartPolicy && { restartPolicy }),
})

const unmatched = "node(s) didn't match Pod's node affinity/selector"
const taken = "node(s) didn't have free ports for the requested pod ports"

type FilterRow = readonly [why: string, plugin: SchedulerPlugin, pod: Pod, node: Node, placed: Pod[], verdict: string]
const filters: readonly FilterRow[] = [
  ['room', nodeResourcesFit, asking('p', { cpu: '4', memory: '8Gi' }), aNode('n'), [], 'fits'],
  ['room without its overhead', nodeResourcesFit, running({ overhead: { cpu: '1' } }), aNode('n'), [], 'fits'],
  ['no room with it', nodeResourcesFit, running({ overhead: { cpu: '2500m' } }), aNode('n'), [], 'Insufficient cpu'],
  ['an init container is larger', nodeResourcesFit, running({}, initially('5')), aNode('n'), [], 'Insufficient cpu'],
  ['an init container goes again', nodeResourcesFit, running({}, initially('3')), aNode('n'), [], 'fits'],
  ['a sidecar stays', nodeResourcesFit, running({}, initially('3', 'Always')), aNode('n'), [], 'Insufficient cpu'],
  [
    'the pod as a whole asks for more',
    nodeResourcesFit,
    running({ resources: { requests: { cpu: '5' } } }),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  ['too much cpu', nodeResourcesFit, asking('p', { cpu: '4001m' }), aNode('n'), [], 'Insufficient cpu'],
  [
    'both short',
    nodeResourcesFit,
    asking('p', { cpu: '5', memory: '9Gi' }),
    aNode('n'),
    [],
    'Insufficient cpu, Insufficient memory',
  ],
  [
    'used by others',
    nodeResourcesFit,
    asking('p', { cpu: '2' }),
    aNode('n'),
    [asking('a', { cpu: '3' })],
    'Insufficient cpu',
  ],
  ['no request needs no room', nodeResourcesFit, aPod('p'), aNode('n'), [asking('a', { cpu: '4' })], 'fits'],
  ['too many pods', nodeResourcesFit, aPod('p'), aNode('n', {}, { pods: '1' }), [aPod('a')], 'Too many pods'],
  [
    'a resource that the node does not have',
    nodeResourcesFit,
    asking('p', { 'example.com/gpu': '1' }),
    aNode('n'),
    [],
    'Insufficient example.com/gpu',
  ],
  [
    'huge pages and scratch space',
    nodeResourcesFit,
    asking('p', { 'hugepages-2Mi': '4Mi', 'ephemeral-storage': '2Gi' }),
    aNode('n', {}, { 'hugepages-2Mi': '2Mi', 'ephemeral-storage': '1Gi', pods: '9' }),
    [],
    'Insufficient ephemeral-storage, Insufficient hugepages-2Mi',
  ],
  [
    'a resource that the profile leaves to others',
    configured(nodeResourcesFit, { ignoredResourceGroups: ['example.com'] }),
    asking('p', { 'example.com/gpu': '1' }),
    aNode('n'),
    [],
    'fits',
  ],
  [
    'what the pod as a whole asks for',
    nodeResourcesFit,
    aPod('p', { resources: { requests: { cpu: '5' } } }, { cpu: '1' }),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  ['cordoned', nodeUnschedulable, aPod('p'), aNode('n', { unschedulable: true }), [], 'node(s) were unschedulable'],
  [
    'a cordon tolerated',
    nodeUnschedulable,
    aPod('p', { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    aNode('n', { unschedulable: true }),
    [],
    'fits',
  ],
  ['a taint', taintToleration, aPod('p'), tainted('NoSchedule'), [], 'node(s) had untolerated taint(s)'],
  ['a taint that evicts', taintToleration, aPod('p'), tainted('NoExecute'), [], 'node(s) had untolerated taint(s)'],
  ['a soft taint', taintToleration, aPod('p'), tainted('PreferNoSchedule'), [], 'fits'],
  [
    'a taint tolerated',
    taintToleration,
    aPod('p', { tolerations: [{ key: 'k', value: 'v' }] }),
    tainted('NoSchedule'),
    [],
    'fits',
  ],
  [
    'another node named',
    nodeName,
    aPod('p', { nodeName: 'm' }),
    aNode('n'),
    [],
    "node(s) didn't match the requested node name",
  ],
  ['this node named', nodeName, aPod('p', { nodeName: 'n' }), aNode('n'), [], 'fits'],
  ['a port taken', nodePorts, withPort('p', 80), aNode('n'), [withPort('a', 80)], taken],
  ['another port', nodePorts, withPort('p', 81), aNode('n'), [withPort('a', 80)], 'fits'],
  ['another protocol', nodePorts, withPort('p', 80, 'UDP'), aNode('n'), [withPort('a', 80)], 'fits'],
  [
    'another address',
    nodePorts,
    withPort('p', 80, 'TCP', '127.0.0.1'),
    aNode('n'),
    [withPort('a', 80, 'TCP', '127.0.0.2')],
    'fits',
  ],
  [
    'every address includes this one',
    nodePorts,
    withPort('p', 80, 'TCP', '127.0.0.1'),
    aNode('n'),
    [withPort('a', 80)],
    taken,
  ],
  ['selector met', nodeAffinity, aPod('p', { nodeSelector: { a: 'b' } }), labelled('n', { a: 'b' }), [], 'fits'],
  ['selector not met', nodeAffinity, aPod('p', { nodeSelector: { a: 'b' } }), labelled('n', { a: 'c' }), [], unmatched],
  ['In', nodeAffinity, aPod('p', required(expression('a', 'In', 'x', 'b'))), labelled('n', { a: 'b' }), [], 'fits'],
  ['NotIn an absent label', nodeAffinity, aPod('p', required(expression('a', 'NotIn', 'x'))), aNode('n'), [], 'fits'],
  ['Exists', nodeAffinity, aPod('p', required(expression('a', 'Exists'))), aNode('n'), [], unmatched],
  ['DoesNotExist', nodeAffinity, aPod('p', required(expression('a', 'DoesNotExist'))), aNode('n'), [], 'fits'],
  ['Gt', nodeAffinity, aPod('p', required(expression('a', 'Gt', '9'))), labelled('n', { a: '10' }), [], 'fits'],
  ['Lt', nodeAffinity, aPod('p', required(expression('a', 'Lt', '9'))), labelled('n', { a: '10' }), [], unmatched],
  [
    'Gt of no number',
    nodeAffinity,
    aPod('p', required(expression('a', 'Gt', '9'))),
    labelled('n', { a: 'x' }),
    [],
    unmatched,
  ],
  [
    'one of several terms',
    nodeAffinity,
    aPod('p', required(expression('a', 'Exists'), expression('b', 'Exists'))),
    labelled('n', { b: '' }),
    [],
    'fits',
  ],
  ['a term that says nothing', nodeAffinity, aPod('p', required({})), aNode('n'), [], unmatched],
  ['a name', nodeAffinity, aPod('p', required(field('In', 'n'))), aNode('n'), [], 'fits'],
  [
    'another name is not even looked at',
    nodeAffinity,
    aPod('p', required(field('In', 'm'))),
    aNode('n'),
    [],
    'not asked',
  ],
  [
    'names that exclude each other',
    nodeAffinity,
    aPod('p', required({ matchFields: [...field('In', 'n').matchFields, ...field('In', 'm').matchFields] })),
    aNode('n'),
    [],
    'pod affinity terms conflict',
  ],
  [
    'the affinity of the profile',
    configured(nodeAffinity, {
      addedAffinity: required(expression('pool', 'Exists')).affinity.nodeAffinity,
    }),
    aPod('p'),
    aNode('n'),
    [],
    "node(s) didn't match scheduler-enforced node affinity",
  ],
]
for (const [why, plugin, target, on, placed, wanted] of filters)
  test(`${plugin.name}: ${why}`, () => {
    const snapshot = snapshotOf(
      [on],
      placed.map((each) => [each, 'n']),
    )
    equal(verdictsOf(plugin, target, snapshot)['n'], wanted)
  })

test('NodeResourcesFit: what the node could never give cannot be helped by removing pods', () => {
  const snapshot = snapshotOf([aNode('n')], [[asking('a', { cpu: '4' }), 'n']])
  const resolvable = (cpu: string) => {
    const cycle = cycleOf(asking('p', { cpu }), snapshot)
    const first = nodeResourcesFit.preFilter?.(cycle)
    return first?.kind === 'check' && nodeResourcesFit.filter?.(cycle, 0, first.state)?.resolvable
  }
  deepEqual([resolvable('1'), resolvable('5')], [true, false])
})

test('SchedulingGates: names what is waited for', () => {
  equal(schedulingGates.preEnqueue?.(aPod('p')), undefined)
  equal(
    schedulingGates.preEnqueue?.(aPod('p', { schedulingGates: [{ name: 'a' }, { name: 'b' }] })),
    'waiting for scheduling gates: [a b]',
  )
})

const web = (name: string, spec: object = {}) => aPod(name, spec, {}, { labels: { app: 'web' } })
const spread = (extra: object = {}) => ({
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      ...extra,
    },
  ],
})
const zones = [zoned('a1', 'a'), zoned('a2', 'a'), zoned('b1', 'b'), aNode('none')]
const beyond = "node(s) didn't match pod topology spread constraints"
const keyless = `${beyond} (missing required label)`

type ManyRow = readonly [
  why: string,
  pod: Pod,
  nodes: Node[],
  placed: [Pod, string][],
  verdicts: Record<string, string>,
]
const spreads: readonly ManyRow[] = [
  [
    'an empty cluster takes it anywhere with the key',
    web('p', spread()),
    zones,
    [],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'the fuller zone is closed',
    web('p', spread()),
    zones,
    [[web('x'), 'a1']],
    { a1: beyond, a2: beyond, b1: 'fits', none: keyless },
  ],
  [
    'a larger skew is allowed',
    web('p', spread({ maxSkew: 2 })),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'pods of others do not count',
    web('p', spread()),
    zones,
    [[aPod('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'pods that are going do not count',
    web('p', spread()),
    zones,
    [[aPod('x', {}, {}, { labels: { app: 'web' }, deletionTimestamp: '2030-01-01T00:00:00Z' }), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'minDomains: too few domains count as an empty one',
    web('p', spread({ minDomains: 3 })),
    zones,
    [
      [web('x'), 'a1'],
      [web('y'), 'b1'],
    ],
    { a1: beyond, a2: beyond, b1: beyond, none: keyless },
  ],
  [
    'nodeAffinityPolicy Honor: zones that the pod cannot be in do not count',
    web('p', { ...spread(), nodeSelector: { zone: 'a' } }),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'nodeAffinityPolicy Ignore: they count',
    web('p', { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { zone: 'a' } }),
    zones,
    [[web('x'), 'a1']],
    { a1: beyond, a2: beyond, b1: 'fits', none: keyless },
  ],
  [
    'nodeTaintsPolicy Honor: tainted nodes do not count',
    web('p', spread({ nodeTaintsPolicy: 'Honor' })),
    [zoned('a1', 'a'), aNode('b1', { taints: [{ key: 'k', effect: 'NoSchedule' }] }, undefined, { zone: 'b' })],
    [[web('x'), 'a1']],
    { a1: 'fits', b1: 'fits' },
  ],
  [
    'matchLabelKeys: only pods of the same version count',
    aPod('p', spread({ matchLabelKeys: ['version'] }), {}, { labels: { app: 'web', version: '2' } }),
    zones,
    [[aPod('x', {}, {}, { labels: { app: 'web', version: '1' } }), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'a constraint without a selector counts nobody',
    web('p', spread({ labelSelector: undefined })),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
]
for (const [why, target, nodes, placed, wanted] of spreads)
  test(`PodTopologySpread: ${why}`, () =>
    deepEqual(verdictsOf(podTopologySpread, target, snapshotOf(nodes, placed)), ordered(nodes, wanted)))

/** In the order of the snapshot. */
const ordered = (nodes: Node[], wanted: Record<string, string>) =>
  Object.fromEntries(
    [...snapshotOf(nodes).order].map((slot) => nodes[slot]?.metadata.name ?? '').map((name) => [name, wanted[name]]),
  )

const term = (extra: object = {}) => ({ labelSelector: { matchLabels: { app: 'web' } }, topologyKey: 'zone', ...extra })
const near = (...terms: object[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const away = (...terms: object[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const lonely = "node(s) didn't match pod affinity rules"
const foe = "node(s) didn't match pod anti-affinity rules"
const minded = "node(s) didn't satisfy existing pods anti-affinity rules"
const elsewhere = (name: string) => aPod(name, {}, {}, { labels: { app: 'web' }, namespace: 'other' })
const affinities: readonly ManyRow[] = [
  [
    'near a pod that is there',
    aPod('p', near(term())),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: lonely, none: lonely },
  ],
  ['near nobody', aPod('p', near(term())), zones, [], { a1: lonely, a2: lonely, b1: lonely, none: lonely }],
  [
    'the first of its kind may begin',
    web('p', near(term())),
    zones,
    [],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: lonely },
  ],
  [
    'another namespace does not count',
    aPod('p', near(term())),
    zones,
    [[elsewhere('x'), 'a1']],
    { a1: lonely, a2: lonely, b1: lonely, none: lonely },
  ],
  [
    'a namespace that is named counts',
    aPod('p', near(term({ namespaces: ['other'] }))),
    zones,
    [[elsewhere('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: lonely, none: lonely },
  ],
  [
    'every namespace counts',
    aPod('p', near(term({ namespaceSelector: {} }))),
    zones,
    [[elsewhere('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: lonely, none: lonely },
  ],
  [
    'away from a pod that is there',
    aPod('p', away(term())),
    zones,
    [[web('x'), 'a1']],
    { a1: foe, a2: foe, b1: 'fits', none: 'fits' },
  ],
  [
    'a pod that is there minds',
    web('p'),
    zones,
    [[aPod('x', away(term())), 'a1']],
    { a1: minded, a2: minded, b1: 'fits', none: 'fits' },
  ],
  [
    'a pod that is there minds others',
    aPod('p'),
    zones,
    [[aPod('x', away(term())), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: 'fits' },
  ],
  [
    'mismatchLabelKeys: away from other tenants only',
    aPod('p', away(term({ labelSelector: {}, mismatchLabelKeys: ['tenant'] })), {}, { labels: { tenant: '1' } }),
    zones,
    [
      [aPod('x', {}, {}, { labels: { tenant: '1' } }), 'a1'],
      [aPod('y', {}, {}, { labels: { tenant: '2' } }), 'b1'],
    ],
    { a1: 'fits', a2: 'fits', b1: foe, none: 'fits' },
  ],
]
for (const [why, target, nodes, placed, wanted] of affinities)
  test(`InterPodAffinity: ${why}`, () =>
    deepEqual(verdictsOf(interPodAffinity, target, snapshotOf(nodes, placed)), ordered(nodes, wanted)))

test('InterPodAffinity: namespaces by their labels, also when those change', () => {
  const snapshot = snapshotOf(zones, [[elsewhere('x'), 'a1']])
  const target = aPod('p', away(term({ namespaceSelector: { matchLabels: { team: 'red' } } })))
  equal(verdictsOf(interPodAffinity, target, snapshot)['a1'], 'fits')
  snapshot.setNamespace('other', { team: 'red' })
  equal(verdictsOf(interPodAffinity, target, snapshot)['a1'], foe)
  snapshot.setNamespace('other', { team: 'blue' })
  equal(verdictsOf(interPodAffinity, target, snapshot)['a1'], 'fits')
})

const half: [Pod, string][] = [[asking('a', { cpu: '2', memory: '4Gi' }), 'half']]
const two = [aNode('empty'), aNode('half')]
const withImages = (name: string, ...images: [string, number][]) =>
  made(nodeKind, name, {
    status: {
      allocatable: { pods: '9' },
      images: images.map(([image, sizeBytes]) => ({ names: [image], sizeBytes })),
    },
  })
const prefers = (weight: number, preference: object) => ({
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, preference }] } },
})
const likes = (name: 'podAffinity' | 'podAntiAffinity', weight: number) => ({
  affinity: { [name]: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term() }] } },
})
const soft = (name: string, count: number) =>
  aNode(name, {
    taints: Array.from({ length: count }, (_, index) => ({ key: `k${index}`, effect: 'PreferNoSchedule' })),
  })

type ScoreRow = readonly [
  why: string,
  plugin: SchedulerPlugin,
  pod: Pod,
  nodes: Node[],
  placed: [Pod, string][],
  scores: Record<string, number> | undefined,
]
const scoreTable: readonly ScoreRow[] = [
  [
    'the emptier is better',
    nodeResourcesFit,
    asking('p', { cpu: '1', memory: '2Gi' }),
    two,
    half,
    { empty: 75, half: 25 },
  ],
  ['containers that ask for nothing count a little', nodeResourcesFit, aPod('p'), two, [], { empty: 97, half: 97 }],
  [
    'MostAllocated: the fuller is better',
    configured(nodeResourcesFit, { scoringStrategy: { type: 'MostAllocated' } }),
    asking('p', { cpu: '1', memory: '2Gi' }),
    two,
    half,
    { empty: 25, half: 75 },
  ],
  [
    'RequestedToCapacityRatio: along the curve',
    configured(nodeResourcesFit, {
      scoringStrategy: {
        type: 'RequestedToCapacityRatio',
        resources: [{ name: 'cpu', weight: 3 }],
        requestedToCapacityRatio: {
          shape: [
            { utilization: 0, score: 0 },
            { utilization: 50, score: 10 },
            { utilization: 100, score: 2 },
          ],
        },
      },
    }),
    asking('p', { cpu: '1', memory: '2Gi' }),
    two,
    half,
    { empty: 50, half: 60 },
  ],
  [
    'a pod that evens things out is welcome',
    nodeResourcesBalancedAllocation,
    asking('p', { memory: '4Gi' }),
    two,
    [[asking('a', { cpu: '2' }), 'half']],
    { empty: 62, half: 87 },
  ],
  ['a pod that asks for nothing unbalances nothing', nodeResourcesBalancedAllocation, aPod('p'), two, half, undefined],
  [
    'few soft taints',
    taintToleration,
    aPod('p'),
    [soft('a', 0), soft('b', 2), soft('c', 1)],
    [],
    { a: 100, b: 0, c: 50 },
  ],
  ['no soft taints at all', taintToleration, aPod('p'), [aNode('a')], [], { a: 100 }],
  [
    'preferred nodes',
    nodeAffinity,
    aPod('p', prefers(10, expression('a', 'Exists'))),
    [labelled('x', { a: '' }), aNode('y')],
    [],
    { x: 100, y: 0 },
  ],
  ['no preference', nodeAffinity, aPod('p'), two, [], undefined],
  [
    'an image on half the nodes counts half',
    imageLocality,
    aPod('p', { containers: [{ name: 'c', image: 'big' }] }),
    [withImages('a', ['big:latest', 1000 << 20]), withImages('b')],
    [],
    { a: 48, b: 0 },
  ],
  ['an image that nobody has', imageLocality, aPod('p'), two, [], undefined],
  [
    'the emptier zone',
    podTopologySpread,
    web('p', spread({ whenUnsatisfiable: 'ScheduleAnyway' })),
    [zoned('a', 'a'), zoned('b', 'b')],
    [
      [web('x'), 'a'],
      [web('y'), 'a'],
      [web('z'), 'b'],
    ],
    { a: 33, b: 100 },
  ],
  [
    'a node without the key gets nothing',
    podTopologySpread,
    web('p', spread({ whenUnsatisfiable: 'ScheduleAnyway' })),
    [zoned('a', 'a'), aNode('none')],
    [],
    { a: 100, none: 0 },
  ],
  ['no soft constraint', podTopologySpread, web('p', spread()), two, [], undefined],
  [
    'near those it likes',
    interPodAffinity,
    aPod('p', likes('podAffinity', 5)),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[web('x'), 'a']],
    { a: 100, b: 0 },
  ],
  [
    'away from those it does not like',
    interPodAffinity,
    aPod('p', likes('podAntiAffinity', 5)),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[web('x'), 'a']],
    { a: 0, b: 100 },
  ],
  [
    'where it is liked',
    interPodAffinity,
    web('p'),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[aPod('x', likes('podAffinity', 5)), 'a']],
    { a: 100, b: 0 },
  ],
  [
    'where it is needed',
    interPodAffinity,
    web('p'),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[web('x', near(term())), 'a']],
    { a: 100, b: 0 },
  ],
  [
    'wishes of others do not count when the profile says so',
    configured(interPodAffinity, { ignorePreferredTermsOfExistingPods: true }),
    web('p'),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[aPod('x', likes('podAffinity', 5)), 'a']],
    undefined,
  ],
]
for (const [why, plugin, target, nodes, placed, wanted] of scoreTable)
  test(`${plugin.name} scores: ${why}`, () => deepEqual(scoresOf(plugin, target, snapshotOf(nodes, placed)), wanted))

const header = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' } as const
const profilesOf = (configuration: object) =>
  makeProfiles(parseSchedulerConfiguration({ ...header, ...configuration }), schedulerPlugins, (plugin) => plugin)

test('a configuration: profiles, points, weights', () => {
  const [plain, packed] = profilesOf({
    profiles: [
      {},
      {
        schedulerName: 'packed',
        plugins: {
          multiPoint: { disabled: [{ name: 'ImageLocality' }], enabled: [{ name: 'NodeResourcesFit', weight: 9 }] },
          score: { disabled: [{ name: '*' }], enabled: [{ name: 'TaintToleration', weight: 7 }] },
          filter: { disabled: [{ name: 'NodePorts' }] },
        },
      },
    ],
  })
  deepEqual(
    plain?.scoring.map(({ plugin, weight }) => `${plugin.name} ${weight}`),
    [
      'TaintToleration 3',
      'NodeAffinity 2',
      'NodeResourcesFit 1',
      'PodTopologySpread 2',
      'InterPodAffinity 2',
      'NodeResourcesBalancedAllocation 1',
      'ImageLocality 1',
    ],
  )
  deepEqual(
    packed?.scoring.map(({ plugin, weight }) => `${plugin.name} ${weight}`),
    ['TaintToleration 7'],
  )
  equal(
    packed?.at.filter.some(({ name }) => name === 'NodePorts'),
    false,
  )
  equal(
    packed?.at.preFilter.some(({ name }) => name === 'NodePorts'),
    true,
  )
  equal(
    packed?.plugins.some(({ name }) => name === 'ImageLocality'),
    false,
  )
})

const broken: readonly [configuration: object, message: RegExp][] = [
  [{ kind: 'Other' }, /no kind "Other" is registered/],
  [{ percentageOfNodesToScore: 101 }, /percentageOfNodesToScore: Invalid value: 101/],
  [{ podMaxBackoffSeconds: 0 }, /podMaxBackoffSeconds: Invalid value: 0/],
  [{ colour: 'red' }, /unknown field "colour"/],
  [{ profiles: [{}, {}] }, /profiles: Duplicate value: "default-scheduler"/],
  [{ profiles: [{ pluginConfig: [{ name: 'Nope' }] }] }, /plugin "Nope" does not exist/],
  [{ profiles: [{ plugins: { score: { enabled: [{ name: 'Nope' }] } } }] }, /plugin "Nope" does not exist/],
]
for (const [configuration, message] of broken)
  test(`a configuration is refused: ${JSON.stringify(configuration)}`, () => {
    let found = ''
    try {
      profilesOf(configuration)
    } catch (error) {
      found = String(error)
    }
    equal(message.test(found), true, found)
  })
