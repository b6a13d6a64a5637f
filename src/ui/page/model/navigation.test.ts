// What the navigation and the palette show.
import { deepEqual, equal } from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Resource } from '../source/source.ts'
import { matching } from './choices.ts'
import { kindLabel, kindSections } from './kind-sections.ts'

const resource = (plural: string, kind: string, group = ''): Resource => ({
  group,
  version: 'v1',
  plural,
  kind,
  isNamespaced: true,
  verbs: ['list', 'watch'],
})

suite('kinds', () => {
  for (const [plural, kind, label] of [
    ['pods', 'Pod', 'Pods'],
    ['networkpolicies', 'NetworkPolicy', 'NetworkPolicies'],
    ['ingresses', 'Ingress', 'Ingresses'],
    ['endpoints', 'Endpoints', 'Endpoints'],
    ['people', 'Human', 'people'],
    ['pods', 'PodMetrics', 'PodMetrics'],
    ['<b>', '<b>', '<b>'],
  ] as const)
    test(`${kind} is listed as ${label}`, () => equal(kindLabel({ kind, plural }), label))

  test('they are listed by topic, custom resources by group, each once', () => {
    const all = [
      resource('bindings', 'Binding'),
      resource('events', 'Event'),
      resource('pods', 'Pod'),
      resource('replicasets', 'ReplicaSet', 'apps'),
      resource('deployments', 'Deployment', 'apps'),
      resource('events', 'Event', 'events.k8s.io'),
      resource('leases', 'Lease', 'coordination.k8s.io'),
      resource('widgets', 'Widget', 'example.com'),
      resource('gadgets', 'Gadget', 'example.com'),
      resource('endpoints', 'Endpoints'),
    ]
    deepEqual(
      kindSections(all).map(({ name, isCustom, resources }) => [name, isCustom, resources.map(({ kind }) => kind)]),
      [
        ['Workloads', false, ['Pod', 'Deployment', 'ReplicaSet']],
        ['Network', false, ['Endpoints']],
        ['Cluster', false, ['Event', 'Binding', 'Lease']],
        ['example.com', true, ['Gadget', 'Widget']],
      ],
    )
  })
})

suite('choices', () => {
  const choices = [
    { id: '1', label: 'ReplicaSets', detail: 'kind, Workloads' },
    { id: '2', label: 'Sets', detail: 'kind' },
    { id: '3', label: 'Deployments', detail: 'kind, Workloads' },
    { id: '4', label: 'workload', detail: '' },
  ]
  for (const [text, ids] of [
    ['', ['1', '2', '3', '4']],
    ['sets', ['2', '1']],
    ['WORKLOAD', ['4', '1', '3']],
    ['work repl', ['1']],
    ['none', []],
  ] as const)
    test(`${JSON.stringify(text)} finds ${ids.join(', ') || 'nothing'}`, () => {
      deepEqual(
        matching(choices, text).map(({ id }) => id),
        ids,
      )
    })
})
