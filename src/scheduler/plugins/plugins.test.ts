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
const initContainer = (cpu: string, restartPolicy?: string) => ({
  name: 'i',
  image: 'i',
  resources: { requests: { cpu } },
  ...(restartPolicy && { restartPolicy }),
})

const unmatched = "node(s) didn't match Pod's node affinity/selector"
const taken = "node(s) didn't have free ports for the requested pod ports"

type FilterRow = readonly [why: string, plugin: SchedulerPlugin, pod: Pod, node: Node, placed: Pod[], verdict: string]
const filters: readonly FilterRow[] = [
  ['requests that fit', nodeResourcesFit, asking('p', { cpu: '4', memory: '8Gi' }), aNode('n'), [], 'fits'],
  ['a pod whose overhead fits', nodeResourcesFit, running({ overhead: { cpu: '1' } }), aNode('n'), [], 'fits'],
  [
    'a pod whose overhead does not fit',
    nodeResourcesFit,
    running({ overhead: { cpu: '2500m' } }),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  [
    'an init container that requests more than the node has',
    nodeResourcesFit,
    running({}, initContainer('5')),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  [
    'an init container and a container that fit one after the other',
    nodeResourcesFit,
    running({}, initContainer('3')),
    aNode('n'),
    [],
    'fits',
  ],
  [
    'a sidecar and a container that do not fit together',
    nodeResourcesFit,
    running({}, initContainer('3', 'Always')),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  [
    'a pod-level request that is larger than the container requests',
    nodeResourcesFit,
    running({ resources: { requests: { cpu: '5' } } }),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  ['too much cpu', nodeResourcesFit, asking('p', { cpu: '4001m' }), aNode('n'), [], 'Insufficient cpu'],
  [
    'too little cpu and memory',
    nodeResourcesFit,
    asking('p', { cpu: '5', memory: '9Gi' }),
    aNode('n'),
    [],
    'Insufficient cpu, Insufficient memory',
  ],
  [
    'resources in use by other pods',
    nodeResourcesFit,
    asking('p', { cpu: '2' }),
    aNode('n'),
    [asking('a', { cpu: '3' })],
    'Insufficient cpu',
  ],
  [
    'a pod without requests on a full node',
    nodeResourcesFit,
    aPod('p'),
    aNode('n'),
    [asking('a', { cpu: '4' })],
    'fits',
  ],
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
    'a resource in an ignored resource group',
    configured(nodeResourcesFit, { ignoredResourceGroups: ['example.com'] }),
    asking('p', { 'example.com/gpu': '1' }),
    aNode('n'),
    [],
    'fits',
  ],
  [
    'a pod-level request above the sum of the containers',
    nodeResourcesFit,
    aPod('p', { resources: { requests: { cpu: '5' } } }, { cpu: '1' }),
    aNode('n'),
    [],
    'Insufficient cpu',
  ],
  [
    'a cordoned node',
    nodeUnschedulable,
    aPod('p'),
    aNode('n', { unschedulable: true }),
    [],
    'node(s) were unschedulable',
  ],
  [
    'a tolerated cordon',
    nodeUnschedulable,
    aPod('p', { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] }),
    aNode('n', { unschedulable: true }),
    [],
    'fits',
  ],
  ['a NoSchedule taint', taintToleration, aPod('p'), tainted('NoSchedule'), [], 'node(s) had untolerated taint(s)'],
  ['a NoExecute taint', taintToleration, aPod('p'), tainted('NoExecute'), [], 'node(s) had untolerated taint(s)'],
  ['a PreferNoSchedule taint', taintToleration, aPod('p'), tainted('PreferNoSchedule'), [], 'fits'],
  [
    'a tolerated taint',
    taintToleration,
    aPod('p', { tolerations: [{ key: 'k', value: 'v' }] }),
    tainted('NoSchedule'),
    [],
    'fits',
  ],
  [
    'spec.nodeName of another node',
    nodeName,
    aPod('p', { nodeName: 'm' }),
    aNode('n'),
    [],
    "node(s) didn't match the requested node name",
  ],
  ['spec.nodeName of this node', nodeName, aPod('p', { nodeName: 'n' }), aNode('n'), [], 'fits'],
  ['a host port in use', nodePorts, withPort('p', 80), aNode('n'), [withPort('a', 80)], taken],
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
    'a host port in use on the wildcard address',
    nodePorts,
    withPort('p', 80, 'TCP', '127.0.0.1'),
    aNode('n'),
    [withPort('a', 80)],
    taken,
  ],
  [
    'a node selector that matches',
    nodeAffinity,
    aPod('p', { nodeSelector: { a: 'b' } }),
    labelled('n', { a: 'b' }),
    [],
    'fits',
  ],
  [
    'a node selector that does not match',
    nodeAffinity,
    aPod('p', { nodeSelector: { a: 'b' } }),
    labelled('n', { a: 'c' }),
    [],
    unmatched,
  ],
  ['In', nodeAffinity, aPod('p', required(expression('a', 'In', 'x', 'b'))), labelled('n', { a: 'b' }), [], 'fits'],
  ['NotIn an absent label', nodeAffinity, aPod('p', required(expression('a', 'NotIn', 'x'))), aNode('n'), [], 'fits'],
  ['Exists', nodeAffinity, aPod('p', required(expression('a', 'Exists'))), aNode('n'), [], unmatched],
  ['DoesNotExist', nodeAffinity, aPod('p', required(expression('a', 'DoesNotExist'))), aNode('n'), [], 'fits'],
  ['Gt', nodeAffinity, aPod('p', required(expression('a', 'Gt', '9'))), labelled('n', { a: '10' }), [], 'fits'],
  ['Lt', nodeAffinity, aPod('p', required(expression('a', 'Lt', '9'))), labelled('n', { a: '10' }), [], unmatched],
  [
    'Gt with a label that is not a number',
    nodeAffinity,
    aPod('p', required(expression('a', 'Gt', '9'))),
    labelled('n', { a: 'x' }),
    [],
    unmatched,
  ],
  [
    'one matching term of several',
    nodeAffinity,
    aPod('p', required(expression('a', 'Exists'), expression('b', 'Exists'))),
    labelled('n', { b: '' }),
    [],
    'fits',
  ],
  ['an empty term', nodeAffinity, aPod('p', required({})), aNode('n'), [], unmatched],
  ['matchFields of this node', nodeAffinity, aPod('p', required(field('In', 'n'))), aNode('n'), [], 'fits'],
  [
    'a node that matchFields excludes is not evaluated',
    nodeAffinity,
    aPod('p', required(field('In', 'm'))),
    aNode('n'),
    [],
    'not evaluated',
  ],
  [
    'matchFields that contradict each other',
    nodeAffinity,
    aPod('p', required({ matchFields: [...field('In', 'n').matchFields, ...field('In', 'm').matchFields] })),
    aNode('n'),
    [],
    'pod affinity terms conflict',
  ],
  [
    'the affinity added by the profile',
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

test('NodeResourcesFit: a request above the allocatable amount cannot be resolved by preemption', () => {
  const snapshot = snapshotOf([aNode('n')], [[asking('a', { cpu: '4' }), 'n']])
  const resolvable = (cpu: string) => {
    const cycle = cycleOf(asking('p', { cpu }), snapshot)
    const first = nodeResourcesFit.preFilter?.(cycle)
    return first?.kind === 'check' && nodeResourcesFit.filter?.(cycle, 0, first.state)?.resolvable
  }
  deepEqual([resolvable('1'), resolvable('5')], [true, false])
})

test('SchedulingGates: the message lists the gates of the pod', () => {
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
    'every node with the topology key fits in an empty cluster',
    web('p', spread()),
    zones,
    [],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'nodes in the fuller zone are rejected',
    web('p', spread()),
    zones,
    [[web('x'), 'a1']],
    { a1: beyond, a2: beyond, b1: 'fits', none: keyless },
  ],
  [
    'maxSkew 2 allows a difference of two pods',
    web('p', spread({ maxSkew: 2 })),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'pods that do not match the selector are not counted',
    web('p', spread()),
    zones,
    [[aPod('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'terminating pods are not counted',
    web('p', spread()),
    zones,
    [[aPod('x', {}, {}, { labels: { app: 'web' }, deletionTimestamp: '2030-01-01T00:00:00Z' }), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'minDomains: the minimum is 0 while there are too few domains',
    web('p', spread({ minDomains: 3 })),
    zones,
    [
      [web('x'), 'a1'],
      [web('y'), 'b1'],
    ],
    { a1: beyond, a2: beyond, b1: beyond, none: keyless },
  ],
  [
    'nodeAffinityPolicy Honor: zones excluded by the pod’s node affinity are not counted',
    web('p', { ...spread(), nodeSelector: { zone: 'a' } }),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'nodeAffinityPolicy Ignore: zones excluded by the pod’s node affinity are counted',
    web('p', { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { zone: 'a' } }),
    zones,
    [[web('x'), 'a1']],
    { a1: beyond, a2: beyond, b1: 'fits', none: keyless },
  ],
  [
    'nodeTaintsPolicy Honor: tainted nodes are not counted',
    web('p', spread({ nodeTaintsPolicy: 'Honor' })),
    [zoned('a1', 'a'), aNode('b1', { taints: [{ key: 'k', effect: 'NoSchedule' }] }, undefined, { zone: 'b' })],
    [[web('x'), 'a1']],
    { a1: 'fits', b1: 'fits' },
  ],
  [
    'matchLabelKeys: only pods with the same value are counted',
    aPod('p', spread({ matchLabelKeys: ['version'] }), {}, { labels: { app: 'web', version: '2' } }),
    zones,
    [[aPod('x', {}, {}, { labels: { app: 'web', version: '1' } }), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: keyless },
  ],
  [
    'a constraint without a selector counts no pods',
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
const requiringAffinity = (...terms: object[]) => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const requiringAntiAffinity = (...terms: object[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
})
const affinityMismatch = "node(s) didn't match pod affinity rules"
const antiAffinityMismatch = "node(s) didn't match pod anti-affinity rules"
const existingAntiAffinityMismatch = "node(s) didn't satisfy existing pods anti-affinity rules"
const elsewhere = (name: string) => aPod(name, {}, {}, { labels: { app: 'web' }, namespace: 'other' })
const affinities: readonly ManyRow[] = [
  [
    'affinity to an existing pod',
    aPod('p', requiringAffinity(term())),
    zones,
    [[web('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: affinityMismatch, none: affinityMismatch },
  ],
  [
    'affinity that no pod matches',
    aPod('p', requiringAffinity(term())),
    zones,
    [],
    { a1: affinityMismatch, a2: affinityMismatch, b1: affinityMismatch, none: affinityMismatch },
  ],
  [
    'a pod that matches its own affinity is accepted when no pod matches',
    web('p', requiringAffinity(term())),
    zones,
    [],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: affinityMismatch },
  ],
  [
    'pods in other namespaces do not match',
    aPod('p', requiringAffinity(term())),
    zones,
    [[elsewhere('x'), 'a1']],
    { a1: affinityMismatch, a2: affinityMismatch, b1: affinityMismatch, none: affinityMismatch },
  ],
  [
    'pods in a listed namespace match',
    aPod('p', requiringAffinity(term({ namespaces: ['other'] }))),
    zones,
    [[elsewhere('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: affinityMismatch, none: affinityMismatch },
  ],
  [
    'an empty namespace selector matches every namespace',
    aPod('p', requiringAffinity(term({ namespaceSelector: {} }))),
    zones,
    [[elsewhere('x'), 'a1']],
    { a1: 'fits', a2: 'fits', b1: affinityMismatch, none: affinityMismatch },
  ],
  [
    'anti-affinity to an existing pod',
    aPod('p', requiringAntiAffinity(term())),
    zones,
    [[web('x'), 'a1']],
    { a1: antiAffinityMismatch, a2: antiAffinityMismatch, b1: 'fits', none: 'fits' },
  ],
  [
    'anti-affinity of an existing pod that matches',
    web('p'),
    zones,
    [[aPod('x', requiringAntiAffinity(term())), 'a1']],
    { a1: existingAntiAffinityMismatch, a2: existingAntiAffinityMismatch, b1: 'fits', none: 'fits' },
  ],
  [
    'anti-affinity of an existing pod that does not match',
    aPod('p'),
    zones,
    [[aPod('x', requiringAntiAffinity(term())), 'a1']],
    { a1: 'fits', a2: 'fits', b1: 'fits', none: 'fits' },
  ],
  [
    'mismatchLabelKeys: anti-affinity to other tenants only',
    aPod(
      'p',
      requiringAntiAffinity(term({ labelSelector: {}, mismatchLabelKeys: ['tenant'] })),
      {},
      { labels: { tenant: '1' } },
    ),
    zones,
    [
      [aPod('x', {}, {}, { labels: { tenant: '1' } }), 'a1'],
      [aPod('y', {}, {}, { labels: { tenant: '2' } }), 'b1'],
    ],
    { a1: 'fits', a2: 'fits', b1: antiAffinityMismatch, none: 'fits' },
  ],
]
for (const [why, target, nodes, placed, wanted] of affinities)
  test(`InterPodAffinity: ${why}`, () =>
    deepEqual(verdictsOf(interPodAffinity, target, snapshotOf(nodes, placed)), ordered(nodes, wanted)))

test('InterPodAffinity: the namespace selector follows changes of the namespace labels', () => {
  const snapshot = snapshotOf(zones, [[elsewhere('x'), 'a1']])
  const target = aPod('p', requiringAntiAffinity(term({ namespaceSelector: { matchLabels: { team: 'red' } } })))
  equal(verdictsOf(interPodAffinity, target, snapshot)['a1'], 'fits')
  snapshot.setNamespace('other', { team: 'red' })
  equal(verdictsOf(interPodAffinity, target, snapshot)['a1'], antiAffinityMismatch)
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
const preferring = (name: 'podAffinity' | 'podAntiAffinity', weight: number) => ({
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
    'LeastAllocated: the emptier node scores higher',
    nodeResourcesFit,
    asking('p', { cpu: '1', memory: '2Gi' }),
    two,
    half,
    { empty: 75, half: 25 },
  ],
  [
    'containers without requests count with a default request',
    nodeResourcesFit,
    aPod('p'),
    two,
    [],
    { empty: 97, half: 97 },
  ],
  [
    'MostAllocated: the fuller node scores higher',
    configured(nodeResourcesFit, { scoringStrategy: { type: 'MostAllocated' } }),
    asking('p', { cpu: '1', memory: '2Gi' }),
    two,
    half,
    { empty: 25, half: 75 },
  ],
  [
    'RequestedToCapacityRatio: the score follows the shape',
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
    'the node that the pod balances scores higher',
    nodeResourcesBalancedAllocation,
    asking('p', { memory: '4Gi' }),
    two,
    [[asking('a', { cpu: '2' }), 'half']],
    { empty: 62, half: 87 },
  ],
  ['a pod without requests is not scored', nodeResourcesBalancedAllocation, aPod('p'), two, half, undefined],
  [
    'nodes with fewer PreferNoSchedule taints score higher',
    taintToleration,
    aPod('p'),
    [soft('a', 0), soft('b', 2), soft('c', 1)],
    [],
    { a: 100, b: 0, c: 50 },
  ],
  ['nodes without PreferNoSchedule taints score 100', taintToleration, aPod('p'), [aNode('a')], [], { a: 100 }],
  [
    'preferred nodes score higher',
    nodeAffinity,
    aPod('p', prefers(10, expression('a', 'Exists'))),
    [labelled('x', { a: '' }), aNode('y')],
    [],
    { x: 100, y: 0 },
  ],
  ['a pod without preferences is not scored', nodeAffinity, aPod('p'), two, [], undefined],
  [
    'the score of an image is scaled by the share of nodes that have it',
    imageLocality,
    aPod('p', { containers: [{ name: 'c', image: 'big' }] }),
    [withImages('a', ['big:latest', 1000 << 20]), withImages('b')],
    [],
    { a: 48, b: 0 },
  ],
  ['an image that is on no node is not scored', imageLocality, aPod('p'), two, [], undefined],
  [
    'the emptier zone scores higher',
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
    'a node without the topology key scores 0',
    podTopologySpread,
    web('p', spread({ whenUnsatisfiable: 'ScheduleAnyway' })),
    [zoned('a', 'a'), aNode('none')],
    [],
    { a: 100, none: 0 },
  ],
  ['a pod without ScheduleAnyway constraints is not scored', podTopologySpread, web('p', spread()), two, [], undefined],
  [
    'preferred affinity raises the score',
    interPodAffinity,
    aPod('p', preferring('podAffinity', 5)),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[web('x'), 'a']],
    { a: 100, b: 0 },
  ],
  [
    'preferred anti-affinity lowers the score',
    interPodAffinity,
    aPod('p', preferring('podAntiAffinity', 5)),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[web('x'), 'a']],
    { a: 0, b: 100 },
  ],
  [
    'preferred affinity of an existing pod raises the score',
    interPodAffinity,
    web('p'),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[aPod('x', preferring('podAffinity', 5)), 'a']],
    { a: 100, b: 0 },
  ],
  [
    'required affinity of an existing pod raises the score',
    interPodAffinity,
    web('p'),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[web('x', requiringAffinity(term())), 'a']],
    { a: 100, b: 0 },
  ],
  [
    'preferences of existing pods are ignored when the profile is configured so',
    configured(interPodAffinity, { ignorePreferredTermsOfExistingPods: true }),
    web('p'),
    [zoned('a', 'a'), zoned('b', 'b')],
    [[aPod('x', preferring('podAffinity', 5)), 'a']],
    undefined,
  ],
]
for (const [why, plugin, target, nodes, placed, wanted] of scoreTable)
  test(`${plugin.name} scores: ${why}`, () => deepEqual(scoresOf(plugin, target, snapshotOf(nodes, placed)), wanted))

const header = { apiVersion: 'kubescheduler.config.k8s.io/v1', kind: 'KubeSchedulerConfiguration' } as const
const profilesOf = (configuration: object) =>
  makeProfiles(parseSchedulerConfiguration({ ...header, ...configuration }), schedulerPlugins, (plugin) => plugin)

test('a configuration sets profiles, extension points and weights', () => {
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
