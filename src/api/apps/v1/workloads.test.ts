// Tables for StatefulSet, DaemonSet and ControllerRevision; the messages are upstream v1.36's.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { cellsOf, objectFrom, testInvalidObjects, updateErrorsOf } from '../../kind/kind.harness.ts'
import { controllerRevision } from './controller-revision.ts'
import { daemonSet } from './daemon-set.ts'
import { statefulSet } from './stateful-set.ts'

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'busybox:1' }] } }
const spec = { selector: { matchLabels: { a: 'b' } }, template }
const claim = {
  metadata: { name: 'd' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const goodStrategies = "must be 'RollingUpdate' or 'OnDelete'"

test('a minimal StatefulSet gets the defaults that upstream gives it', () => {
  const { spec: filled } = objectFrom(statefulSet, { spec: { ...spec, volumeClaimTemplates: [claim] } })
  const { volumeClaimTemplates = [], template: _, selector: __, ...rest } = filled
  deepEqual(rest, {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    revisionHistoryLimit: 10,
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
    serviceName: '',
  })
  deepEqual(
    volumeClaimTemplates.map(({ spec: { volumeMode }, status }) => [volumeMode, status.phase]),
    [['Filesystem', 'Pending']],
  )
})

testInvalidObjects(statefulSet, [
  ['valid', { spec: { ...spec, serviceName: 'x', volumeClaimTemplates: [claim] } }, []],
  [
    'a broken selector is reported twice',
    { spec: { ...spec, selector: { matchLabels: { a: '!' } } } },
    [/^spec\.selector\.matchLabels: Invalid value: "!"/, 'spec.selector: Invalid value: {"matchLabels":{"a":"!"}}'],
  ],
  [
    'a claim without name',
    { spec: { ...spec, volumeClaimTemplates: [{ ...claim, metadata: {} }] } },
    [
      'spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value',
      'spec.template.spec.volumes[0].name: Required value',
    ],
  ],
  [
    'a claim without access mode',
    { spec: { ...spec, volumeClaimTemplates: [{ ...claim, spec: { ...claim.spec, accessModes: [] } }] } },
    ['spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required'],
  ],
  [
    'a policy that does not exist',
    { spec: { ...spec, podManagementPolicy: 'Random' } },
    [`spec.podManagementPolicy: Invalid value: "Random": must be 'OrderedReady' or 'Parallel'`],
  ],
  [
    'a strategy that does not exist',
    { spec: { ...spec, updateStrategy: { type: 'Never' } } },
    [`spec.updateStrategy: Invalid value: {"Type":"Never","RollingUpdate":null}: ${goodStrategies}`],
  ],
  [
    'a rolling update with the strategy OnDelete',
    { spec: { ...spec, updateStrategy: { type: 'OnDelete', rollingUpdate: { partition: 1 } } } },
    [
      `spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":1,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`,
    ],
  ],
  [
    'claims with an unknown retention policy',
    { spec: { ...spec, persistentVolumeClaimRetentionPolicy: { whenScaled: 'Archive' } } },
    [
      'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Archive": supported values: "Retain", "Delete"',
    ],
  ],
  [
    'a bad service name',
    { spec: { ...spec, serviceName: 'A' } },
    [/^spec\.serviceName: Invalid value: "A": a lowercase/],
  ],
])

testInvalidObjects(daemonSet, [
  ['valid', { spec }, []],
  [
    'a DaemonSet without selector',
    { spec: { template } },
    ['spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`'],
  ],
  [
    'maxUnavailable and maxSurge are both 0',
    { spec: { ...spec, updateStrategy: { rollingUpdate: { maxUnavailable: '0%' } } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
  ],
  [
    'maxUnavailable and maxSurge are both set',
    { spec: { ...spec, updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: '10%' } } } },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero',
    ],
  ],
  [
    'maxUnavailable above 100 %',
    { spec: { ...spec, updateStrategy: { rollingUpdate: { maxUnavailable: '101%' } } } },
    ['spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
  ],
  [
    'a strategy that does not exist',
    { spec: { ...spec, updateStrategy: { type: 'Never' } } },
    [
      'spec.updateStrategy: Unsupported value: {"Type":"Never","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"',
    ],
  ],
])

test('a new DaemonSet has the generation of its template, and an annotation that was sent is not changed', () => {
  const annotation = 'deprecated.daemonset.template.generation'
  const generation = (annotations: object) =>
    objectFrom(daemonSet, { metadata: { name: 'x', annotations }, spec }).metadata.annotations?.[annotation]
  deepEqual([generation({}), generation({ [annotation]: '3' })], ['1', '3'])
})

testInvalidObjects(controllerRevision, [
  ['valid', { data: {}, revision: 1 }, []],
  [
    'no data and a negative revision',
    { revision: -1 },
    ['revision: Invalid value: -1: must be greater than or equal to 0', 'data: Required value: data is mandatory'],
  ],
])

test('immutable fields of StatefulSet, DaemonSet and ControllerRevision', () => {
  const other = { ...spec, selector: { matchLabels: { a: 'b', c: 'd' } } }
  deepEqual(
    [
      updateErrorsOf(statefulSet, { spec }, { spec: { ...spec, replicas: 3, minReadySeconds: 1 } }),
      updateErrorsOf(statefulSet, { spec }, { spec: { ...spec, serviceName: 'x' } }),
      updateErrorsOf(daemonSet, { spec }, { spec: other }),
      updateErrorsOf(controllerRevision, { data: { a: 1 }, revision: 1 }, { data: { a: 2 }, revision: 2 }),
    ],
    [
      [],
      [
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ],
      ['spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable'],
      ['data: Invalid value: {"a":2}: field is immutable'],
    ],
  )
})

test('the columns of StatefulSet, DaemonSet and ControllerRevision', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'u', controller: true }
  const onDisks = { ...template, spec: { ...template.spec, nodeSelector: { disk: 'ssd' } } }
  deepEqual(
    [
      cellsOf(statefulSet, { spec: { ...spec, replicas: 3 }, status: { readyReplicas: 2 } }),
      cellsOf(daemonSet, {
        spec: { ...spec, template: onDisks },
        status: { desiredNumberScheduled: 2, numberReady: 1 },
      }),
      cellsOf(controllerRevision, {
        metadata: { name: 'db-1', creationTimestamp: '2030-01-01T00:00:00Z', ownerReferences: [owner] },
        revision: 4,
      }),
      cellsOf(controllerRevision, { revision: 1 }),
    ],
    [
      ['x', '2/3', '60s', 'c', 'busybox:1'],
      ['x', 2, 0, 1, 0, 0, 'disk=ssd', '60s', 'c', 'busybox:1', 'a=b'],
      ['db-1', 'statefulset.apps/db', 4, '60s'],
      ['x', '<none>', 1, '60s'],
    ],
  )
})
