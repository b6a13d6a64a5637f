// What becomes of bindings that the scheduler has requested, as a table. The messages were recorded from kube-scheduler v1.36.4.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '../../../api/core/v1/node/node.ts'
import type { PersistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../../api/core/v1/volume/persistent-volume.ts'
import { objectKey } from '../../../api/meta/object.ts'
import { bindingProgress, type RequestedBindings } from './binding-progress.ts'

const key = objectKey('default', 'c')
const revision = 5
const reserved: RequestedBindings = { reserved: [{ claim: key, volume: 'v', revision }], selected: [] }
const selected: RequestedBindings = { reserved: [], selected: [{ claim: key, revision }] }

const isBound = { 'pv.kubernetes.io/bind-completed': 'yes' }
const onNode = { 'volume.kubernetes.io/selected-node': 'n' }
const claim = (annotations: object | undefined, spec: object = {}, resourceVersion = '6', more: object = {}) =>
  ({
    metadata: { name: 'c', namespace: 'default', resourceVersion, ...(annotations && { annotations }), ...more },
    spec,
  }) as unknown as PersistentVolumeClaim
const volume = (spec: object, resourceVersion = '6') =>
  ({ metadata: { name: 'v', resourceVersion }, spec }) as unknown as PersistentVolume
const taken = { claimRef: { namespace: 'default', name: 'c', uid: 'u' } }
const elsewhere = {
  nodeAffinity: {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['b'] }] }] },
  },
}
const named = { volumeName: 'v' }
const deleted = { deletionTimestamp: '2030-01-01T00:00:00Z' }

type Objects = { readonly claim?: ReturnType<typeof claim>; readonly volume?: ReturnType<typeof volume> }
type Row = readonly [what: string, requested: RequestedBindings, objects: Objects, result: string]
const rows: readonly Row[] = [
  ['a reserved volume', reserved, { claim: claim(undefined), volume: volume(taken) }, 'waiting'],
  ['a reserved volume, bound', reserved, { claim: claim(isBound, named), volume: volume(taken) }, 'bound'],
  ['the cache has an older volume', reserved, { claim: claim(undefined), volume: volume({}, '4') }, 'waiting'],
  [
    'the reference of the volume was removed',
    reserved,
    { claim: claim(undefined), volume: volume({}) },
    'ClaimRef got reset for pv "v"',
  ],
  [
    'the volume was deleted',
    reserved,
    { claim: claim(undefined) },
    'failed to check binding: persistentvolumes "v" not found',
  ],
  [
    'the claim of a volume was deleted',
    reserved,
    { volume: volume(taken) },
    'failed to check binding: persistentvolumeclaims "default/c" not found',
  ],
  ['a selected node', selected, { claim: claim(onNode) }, 'waiting'],
  ['a selected node, the claim is being deleted', selected, { claim: claim(onNode, {}, '6', deleted) }, 'waiting'],
  ['the cache has an older claim', selected, { claim: claim(undefined, {}, '4') }, 'waiting'],
  [
    'a provisioned volume that is not in the cache',
    selected,
    { claim: claim({ ...onNode, ...isBound }, named) },
    'waiting',
  ],
  [
    'a provisioned volume',
    selected,
    { claim: claim({ ...onNode, ...isBound }, named), volume: volume(taken) },
    'bound',
  ],
  [
    'a provisioned volume of another zone',
    selected,
    { claim: claim({ ...onNode, ...isBound }, named), volume: volume({ ...taken, ...elsewhere }) },
    'pv "v" node affinity doesn\'t match node "n": no matching NodeSelectorTerms',
  ],
  [
    'all annotations of the claim were removed',
    selected,
    { claim: claim(undefined) },
    'selectedNode annotation reset for PVC "c"',
  ],
  ['the selected node was removed', selected, { claim: claim({ other: 'x' }) }, 'provisioning failed for PVC "c"'],
  [
    'another node was selected',
    selected,
    { claim: claim({ 'volume.kubernetes.io/selected-node': 'm' }) },
    'provisioning failed for PVC "c"',
  ],
  [
    'the claim was deleted',
    selected,
    {},
    'failed to check provisioning pvc: persistentvolumeclaims "default/c" not found',
  ],
]

for (const [what, requested, objects, result] of rows)
  test(`a requested binding: ${what}`, () => {
    const progress = bindingProgress(requested, {
      claim: () => objects.claim,
      volume: () => objects.volume,
      node: { metadata: { name: 'n', labels: { zone: 'a' } } } as unknown as Node,
    })
    deepEqual(progress.kind === 'failed' ? progress.why : progress.kind, result)
  })
