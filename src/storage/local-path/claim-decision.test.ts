import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import type { PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { StorageClass } from '../../api/storage/v1/storage-class.ts'
import { decideClaim, localPathNodeOf, newVolume } from './claim-decision.ts'
import { localPathClass } from './local-path-class.ts'
import { ProjectIds } from './project-ids.ts'
import { provisionerFinalizer } from '../provisioning/provisioning.ts'

const annotations = {
  'volume.kubernetes.io/storage-provisioner': 'coxswain.dev/local-path',
  'volume.kubernetes.io/selected-node': 'here',
}
const claimOf = (spec: object = {}, metadata: object = {}, status: object = {}) =>
  ({
    metadata: { name: 'data', namespace: 'default', uid: 'u', annotations, ...metadata },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'local-path',
      resources: { requests: { storage: '1Gi' } },
      ...spec,
    },
    status: { phase: 'Pending', ...status },
  }) as unknown as PersistentVolumeClaim
const classOf = (more: object = {}) => ({ ...localPathClass(true), ...more }) as unknown as StorageClass
const volumeOf = (claim: PersistentVolumeClaim, storageClass = classOf()) =>
  ({
    ...newVolume(claim, storageClass, { nodeName: 'here', path: '/v/pvc-u', projectId: 7 }),
    status: { phase: 'Bound' },
  }) as unknown as PersistentVolume
const bound = { volumeName: 'pvc-u' }
const grown = (reported: string, phase = 'Bound') => claimOf(bound, {}, { phase, capacity: { storage: reported } })

test('what happens to a claim', () => {
  const rows: [
    what: string,
    claim: PersistentVolumeClaim,
    kind: string,
    volumes?: PersistentVolume[],
    of?: StorageClass,
  ][] = [
    ['a claim for this node is provisioned', claimOf(), 'provision'],
    [
      'the former annotation counts too',
      claimOf(
        {},
        {
          annotations: {
            'volume.beta.kubernetes.io/storage-provisioner': 'coxswain.dev/local-path',
            'volume.kubernetes.io/selected-node': 'here',
          },
        },
      ),
      'provision',
    ],
    [
      'one of another node is not',
      claimOf({}, { annotations: { ...annotations, 'volume.kubernetes.io/selected-node': 'there' } }),
      'nothing',
    ],
    [
      'one without a node is not',
      claimOf({}, { annotations: { 'volume.kubernetes.io/storage-provisioner': 'coxswain.dev/local-path' } }),
      'nothing',
    ],
    ['one of another provisioner is not', claimOf({}, { annotations: {} }), 'nothing'],
    ['one that is deleted is not', claimOf({}, { deletionTimestamp: '2030-01-01T00:00:00Z' }), 'nothing'],
    ['one whose volume exists is not', claimOf(), 'nothing', [volumeOf(claimOf())]],
    ['one whose class is of another provisioner is not', claimOf(), 'nothing', [], classOf({ provisioner: 'other' })],
    ['a block volume is rejected', claimOf({ volumeMode: 'Block' }), 'reject'],
    ['a selector is rejected', claimOf({ selector: {} }), 'reject'],
    ['a data source is rejected', claimOf({ dataSource: { kind: 'x', name: 'y' } }), 'reject'],
    ['parameters are rejected', claimOf(), 'reject', [], classOf({ parameters: { a: 'b' } })],
    ['a larger claim is expanded', grown('512Mi'), 'expand', [volumeOf(claimOf())]],
    ['one of the same size is not', grown('1Gi'), 'nothing', [volumeOf(claimOf())]],
    ['one that is not bound is not', grown('0', 'Pending'), 'nothing', [volumeOf(claimOf())]],
    ['one whose volume is unknown is not', grown('0'), 'nothing'],
    [
      'one whose volume belongs to another claim is not',
      grown('0'),
      'nothing',
      [volumeOf(claimOf({}, { uid: 'other' }))].map((volume) => ({
        ...volume,
        metadata: { ...volume.metadata, name: 'pvc-u' },
      })),
    ],
  ]
  for (const [what, claim, kind, volumes = [], storageClass = classOf()] of rows) {
    const decision = decideClaim(claim, {
      classNamed: () => storageClass,
      volumeNamed: (name) => volumes.find(({ metadata }) => metadata.name === name),
      servesNode: (name) => name === 'here',
    })
    equal(decision.kind, kind, what)
  }
})

test('a volume is on the node of its affinity, and has the policy and options of its class', () => {
  const retained = volumeOf(claimOf(), classOf({ reclaimPolicy: 'Retain', mountOptions: ['ro'] }))
  const foreign = { ...retained, metadata: { ...retained.metadata, annotations: {} } }
  deepEqual([localPathNodeOf(retained), localPathNodeOf(foreign)], ['here', undefined])
  deepEqual([retained.metadata.finalizers, retained.spec.mountOptions], [undefined, ['ro']])
  deepEqual(volumeOf(claimOf()).metadata.finalizers, [provisionerFinalizer])
})

test('project ids are unique on a node, and the same for a volume that is created again', () => {
  const ids = new ProjectIds()
  const first = ids.take('n', 'a', [])
  deepEqual([ids.take('n', 'b', []), ids.take('n', 'a', [first]), ids.take('m', 'c', [])], [first + 1, first, first])
  equal(ids.take('n', 'd', [first + 2]), first + 3)
  ids.release('n', 'a')
  ids.release('x', 'a')
  equal(ids.take('n', 'e', []), first)
})
