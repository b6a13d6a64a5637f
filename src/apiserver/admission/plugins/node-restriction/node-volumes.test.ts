// What a node may write of persistent volumes, given that a role permits it to write them.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { objectKey } from '../../../../api/meta/object.ts'
import type { AdmissionAttributes } from '../../framework/admission-plugin.ts'
import type { ObjectLister } from '../../../watch-cache/object-caches.ts'
import { volumeRejection } from './node-volumes.ts'

const provisioner = 'coxswain.dev/local-path'

const claim = (name: string, node: string, spec: object = {}) => ({
  metadata: {
    name,
    namespace: 'default',
    uid: 'u',
    annotations: {
      'volume.kubernetes.io/selected-node': node,
      'volume.kubernetes.io/storage-provisioner': provisioner,
    },
  },
  spec: { storageClassName: 'local-path', ...spec },
})
const claims = new Map<string, object>(
  [
    claim('own', 'n1'),
    claim('other', 'n2'),
    claim('bound', 'n1', { volumeName: 'v' }),
    claim('done', 'n1', { volumeName: 'pvc-u' }),
  ].map((each) => [objectKey('default', each.metadata.name), each]),
)
const reads = { get: (_: unknown, namespace: string, name: string) => claims.get(objectKey(namespace, name)) }

const affinity = (node: string, key = 'kubernetes.io/hostname') => ({
  required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [node] }] }] },
})
const volume = (spec: object = {}, metadata: object = {}, phase = 'Pending') => ({
  metadata: { name: 'pvc-u', annotations: { 'pv.kubernetes.io/provisioned-by': provisioner }, ...metadata },
  spec: {
    capacity: { storage: '1Gi' },
    local: { path: '/data/local-path/pvc-u' },
    nodeAffinity: affinity('n1'),
    claimRef: { namespace: 'default', name: 'own', uid: 'u' },
    storageClassName: 'local-path',
    ...spec,
  },
  status: { phase },
})
const refersTo = (name: string, uid = 'u') => ({ claimRef: { namespace: 'default', name, uid } })
const { local: _local, ...others } = volume().spec
const ofServer = { ...volume(), spec: { ...others, nfs: { server: 's', path: '/pvc-u' } } }

const notDirectory = 'node "n1" can only write persistentvolumes that are directories of itself'
const notSelected = 'node "n1" can only create persistentvolumes for unbound claims whose selected node is itself'
const notOfClaim = 'node "n1" can only create persistentvolumes with the name, class and provisioner of their claim'
const fixed = 'node "n1" is not allowed to update fields other than finalizers and spec.capacity'

type Row = readonly [
  why: string,
  request: Partial<Record<keyof AdmissionAttributes, unknown>>,
  answer: string | undefined,
]

const creates: readonly (readonly [string, object, string | undefined])[] = [
  ['a directory for a claim that has selected the node', volume(), undefined],
  ['a directory of another node', volume({ nodeAffinity: affinity('n2') }), notDirectory],
  ['a directory that any node has', volume({ nodeAffinity: undefined }), notDirectory],
  ['a directory of all nodes with a label', volume({ nodeAffinity: affinity('n1', 'zone') }), notDirectory],
  ['a directory with another name', volume({ local: { path: '/etc' } }), notDirectory],
  ['a path that leaves its directory', volume({ local: { path: '/data/../etc/pvc-u' } }), notDirectory],
  ['a path of every node', volume({ local: undefined, hostPath: { path: '/pvc-u' } }), notDirectory],
  ['a device', volume({ local: { path: '/dev/pvc-u', fsType: 'ext4' } }), notDirectory],
  ['a share of a file server', ofServer, notDirectory],
  ['a volume without a claim', volume({ claimRef: undefined }), notSelected],
  ['a reservation', volume({ claimRef: { namespace: 'default', name: 'own' } }), notSelected],
  ['a claim that has selected another node', volume(refersTo('other')), notSelected],
  ['a claim that is bound', volume(refersTo('bound')), notSelected],
  ['the volume of a claim again', volume(refersTo('done')), undefined],
  ['a claim that does not exist', volume(refersTo('gone')), notSelected],
  ['a claim that was created again', volume(refersTo('own', 'former')), notSelected],
  ['another class', volume({ storageClassName: 'fast' }), notOfClaim],
  ['another provisioner', volume({}, { annotations: { 'pv.kubernetes.io/provisioned-by': 'x' } }), notOfClaim],
  ['a name of its own', volume({ local: { path: '/data/v' } }, { name: 'v' }), notOfClaim],
]

const update = (object: object, old: object = volume()) => ({ operation: 'update', object, old })
const remove = (old: object) => ({ operation: 'delete', object: undefined, old })

const rows: readonly Row[] = [
  ...creates.map(([why, object, answer]): Row => [
    `create ${why}`,
    { operation: 'create', object, old: undefined },
    answer,
  ]),
  ['remove a finalizer', update(volume({}, { finalizers: [], resourceVersion: '2' })), undefined],
  ['expand its volume', update(volume({ capacity: { storage: '2Gi' } })), undefined],
  ['move its volume to another node', update(volume({ nodeAffinity: affinity('n2') })), notDirectory],
  ['take a volume of another node', update(volume(), volume({ nodeAffinity: affinity('n2') })), notDirectory],
  ['give its volume to another claim', update(volume(refersTo('other'))), fixed],
  ['change annotations', update(volume({}, { annotations: {} })), fixed],
  ['delete a released volume', remove(volume({}, {}, 'Released')), undefined],
  ['delete a bound volume', remove(volume({}, {}, 'Bound')), 'node "n1" can only delete released persistentvolumes'],
  ['delete a volume of another node', remove(volume({ nodeAffinity: affinity('n2') }, {}, 'Released')), notDirectory],
  [
    'write a status',
    { ...update(volume()), subresource: 'status' },
    'node "n1" cannot write the status of persistentvolumes',
  ],
]

for (const [why, request, answer] of rows)
  test(`a node requests to ${why}: ${answer ?? 'allowed'}`, () =>
    equal(
      volumeRejection(
        'n1',
        { subresource: '', ...request } as unknown as AdmissionAttributes,
        reads as unknown as ObjectLister,
      ),
      answer,
    ))
