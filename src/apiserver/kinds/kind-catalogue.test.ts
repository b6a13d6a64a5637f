import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { leaseCandidate } from '../../api/coordination/v1beta1/lease-candidate.ts'
import { bareKind } from '../../api/kind/bare-kind.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { horizontalPodAutoscaler } from '../../api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { horizontalPodAutoscalerV1 } from '../../api/autoscaling/v1/horizontal-pod-autoscaler.ts'
import type { StorageCodec } from '../storage/storage-codec.ts'
import type { CustomResource } from './custom-resource.ts'
import { KindCatalogue } from './kind-catalogue.ts'

const codec: StorageCodec = {
  fromStorage: (stored) => stored,
  isConverted: () => false,
  toStorage: (object) => object,
  toVersion: (object) => object,
  convert: (object) => object,
}

function resource(plural: string, group: string, ...versions: readonly string[]): CustomResource {
  const all = versions.map((version) => {
    const names = { group, version, kind: `${plural}Kind`, plural, singular: plural, namespaced: true }
    const custom = {
      listKind: '',
      deprecationWarning: undefined,
      complete: (each: never) => each,
      prune: (each: never) => each,
      publishedSchema: () => ({}),
    }
    return { kind: { ...bareKind(names), custom }, codec }
  })
  const [storage = { kind: pod, codec }] = all
  return { name: `${plural}.${group}`, versions: all, storage }
}

test('built-in kinds are found by path and by name', () => {
  const catalogue = new KindCatalogue()
  equal(catalogue.atPath('v1', 'pods'), pod)
  equal(catalogue.named('v1', 'Pod'), pod)
  equal(catalogue.named('v1', 'Widget'), undefined)
  deepEqual(catalogue.versionsOf(horizontalPodAutoscalerV1), [horizontalPodAutoscaler, horizontalPodAutoscalerV1])
})

test('custom resources are added, replaced and removed, and observers are notified', () => {
  const catalogue = new KindCatalogue()
  const seen: string[] = []
  const textOf = (each: CustomResource | undefined) => each?.versions.map(({ kind }) => kind.version).join('+') ?? '-'
  catalogue.observe({ changed: (removed, added) => seen.push(`${textOf(removed)} -> ${textOf(added)}`) })
  catalogue.set(resource('widgets', 'example.com', 'v1beta1'))
  catalogue.set(resource('widgets', 'example.com', 'v1', 'v1beta1'))
  equal(catalogue.atPath('example.com/v1', 'widgets')?.plural, 'widgets')
  deepEqual(
    catalogue.versionsOf(catalogue.named('example.com/v1beta1', 'widgetsKind') as Kind).map(({ version }) => version),
    ['v1', 'v1beta1'],
  )
  catalogue.delete('widgets.example.com')
  catalogue.delete('widgets.example.com')
  equal(catalogue.atPath('example.com/v1', 'widgets'), undefined)
  deepEqual(seen, ['- -> v1beta1', 'v1beta1 -> v1+v1beta1', 'v1+v1beta1 -> -'])
})

test('a resource whose definition is being deleted stays, and observers are notified once', () => {
  const catalogue = new KindCatalogue()
  catalogue.set(resource('widgets', 'example.com', 'v1'))
  const kind = catalogue.named('example.com/v1', 'widgetsKind') as Kind
  let notified = 0
  catalogue.observe({ changed: (removed, added) => void (notified += Number(removed === added)) })
  equal(catalogue.isTerminating(kind), false)
  for (const name of ['widgets.example.com', 'widgets.example.com', 'none.example.com']) catalogue.terminate(name)
  deepEqual([catalogue.isTerminating(kind), catalogue.isTerminating(pod), notified], [true, false, 1])
  equal(catalogue.atPath('example.com/v1', 'widgets'), kind)
  catalogue.delete('widgets.example.com')
  catalogue.set(resource('widgets', 'example.com', 'v1'))
  equal(catalogue.isTerminating(kind), false)
})

test('an observer that comes later is notified of the resources that exist', () => {
  const catalogue = new KindCatalogue()
  catalogue.set(resource('widgets', 'example.com', 'v1'))
  const seen: string[] = []
  catalogue.observe({ changed: (_, added) => seen.push(added?.name ?? '') })
  deepEqual(seen, ['widgets.example.com'])
})

test('custom groups follow the built-in ones by name, add-ons are last, and versions are sorted by priority', () => {
  const catalogue = new KindCatalogue()
  const before = catalogue.groupVersions.length
  catalogue.set(resource('widgets', 'z.example.com', 'v1alpha1', 'v1'))
  catalogue.set(resource('gadgets', 'a.example.com', 'v1'))
  catalogue.set(resource('snapshots', 'storage.k8s.io', 'v1', 'v2alpha1'))
  const texts = catalogue.groupVersions.map(({ group, version }) => `${group}/${version}`)
  deepEqual(texts.slice(-4), [
    'a.example.com/v1',
    'z.example.com/v1',
    'z.example.com/v1alpha1',
    'metrics.k8s.io/v1beta1',
  ])
  equal(texts.indexOf('storage.k8s.io/v2alpha1'), texts.indexOf('storage.k8s.io/v1') + 1)
  equal(texts.length, before + 4)
})

test('a gated kind is served where its gate is on, in its group and before custom kinds', () => {
  const path = ['coordination.k8s.io/v1beta1', 'leasecandidates'] as const
  equal(new KindCatalogue().atPath(...path), undefined)
  const gated = new KindCatalogue([leaseCandidate])
  equal(gated.atPath(...path), leaseCandidate)
  deepEqual(gated.versionsOf(leaseCandidate), [leaseCandidate])
  const texts = gated.groupVersions.map(({ group, version }) => `${group}/${version}`)
  const index = texts.indexOf('coordination.k8s.io/v1')
  deepEqual(texts.slice(index, index + 2), ['coordination.k8s.io/v1', 'coordination.k8s.io/v1beta1'])
})
