// Tables for the core kinds except pods, nodes and Services: defaults, what is rejected, what an update may not change, columns.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '../../meta/object.ts'
import { limitRange } from './quota/limit-range.ts'
import { persistentVolume } from './volume/persistent-volume.ts'
import { persistentVolumeClaim } from './volume/persistent-volume-claim.ts'
import { podTemplate } from './workload/pod-template.ts'
import { replicationController } from './workload/replication-controller.ts'
import { resourceQuota } from './quota/resource-quota.ts'
import { secret } from './secret.ts'
import { serviceAccount } from './service-account.ts'
import { cells, changeErrors, check, inSpec, made, meta, type Row, row } from './core-kinds.harness.ts'

const limits = (...items: object[]) => inSpec({ limits: items })
const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } }
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

for (const each of [
  row(limitRange, 'bounds in order', limits({ type: 'Container', min: { cpu: '1' }, max: { cpu: '2' } })),
  row(
    limitRange,
    'a default above the maximum shows the maximum',
    limits({ type: 'Container', max: { cpu: '2' }, default: { cpu: '5' }, defaultRequest: { cpu: '1' } }),
    'spec.limits[0].default[cpu]: Invalid value: "2": default value 5 is greater than max value 2',
  ),
  row(
    limitRange,
    'types are known and there once',
    limits({ type: 'Pod' }, { type: 'Pod' }, { type: 'Wat' }),
    'spec.limits[1].type: Duplicate value: "Pod"',
    'spec.limits[2].type: Invalid value: "Wat": must be a standard limit type or fully qualified',
  ),
  row(
    limitRange,
    'a pod has no defaults and no other resources than containers',
    limits({ type: 'Pod', default: { cpu: '1' }, max: { pods: '1' } }),
    'spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers',
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
  ),
  row(
    limitRange,
    'a claim is bounded by storage',
    limits({ type: 'PersistentVolumeClaim' }),
    'spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided',
  ),
  row(
    limitRange,
    'a ratio is one at least, and below that of the bounds',
    limits(
      { type: 'Pod', maxLimitRequestRatio: { cpu: '500m' } },
      { type: 'Container', min: { cpu: '1' }, max: { cpu: '2' }, maxLimitRequestRatio: { cpu: '3' } },
    ),
    'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
    'spec.limits[1].maxLimitRequestRatio[cpu]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
  ),
  row(resourceQuota, 'counts of any kind', inSpec({ hard: { pods: '1', 'count/deployments.apps': '1' } })),
  row(
    resourceQuota,
    'names and amounts that can be counted',
    inSpec({ hard: { wat: '1', storage: '1', pods: '1500m', cpu: '-1' } }),
    'spec.hard[wat]: Invalid value: "wat": must be a standard resource type or fully qualified',
    'spec.hard[wat]: Invalid value: "wat": must be a standard resource for quota',
    'spec.hard[storage]: Invalid value: "storage": must be a standard resource for quota',
    'spec.hard[pods]: Invalid value: "1500m": must be an integer',
    'spec.hard[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ),
  row(
    resourceQuota,
    'scopes fit the resources and one another',
    inSpec({ hard: { cpu: '1' }, scopes: ['BestEffort', 'NotBestEffort'] }),
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: unsupported scope applied to resource',
    'spec.scopes: Invalid value: ["BestEffort","NotBestEffort"]: conflicting scopes',
  ),
  row(
    resourceQuota,
    'a scope selector needs values where it compares',
    inSpec({ scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In' }] } }),
    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
  ),
  row(
    resourceQuota,
    'scopes and operators are known, and some scopes only exist',
    inSpec({
      scopes: ['Wat'],
      scopeSelector: {
        matchExpressions: [
          { scopeName: 'Wat', operator: 'Near' },
          { scopeName: 'BestEffort', operator: 'DoesNotExist', values: ['a'] },
        ],
      },
    }),
    'spec.scopes: Invalid value: ["Wat"]: unsupported scope',
    'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "Wat": unsupported scope',
    'spec.scopeSelector.matchExpressions.operator: Invalid value: "Near": not a valid selector operator',
    'spec.scopeSelector.matchExpressions.operator: Invalid value: "DoesNotExist": must be \'Exist\' when scope is any of…',
    'spec.scopeSelector.matchExpressions.values: Invalid value: ["a"]: must be no value when `operator` is…',
  ),
  row(persistentVolume, 'a path on a host', inSpec(volume)),
  row(
    persistentVolume,
    'nothing at all',
    inSpec({}),
    'spec.accessModes: Required value',
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: null: supported values: "storage"',
    'spec: Required value: must specify a volume type',
  ),
  row(
    persistentVolume,
    'one source, complete',
    inSpec({ ...volume, hostPath: { path: '' }, nfs: { server: 's', path: '/' } }),
    'spec.hostPath.path: Required value',
    'spec.nfs: Forbidden: may not specify more than 1 volume type',
  ),
  row(
    persistentVolume,
    'a local one needs a node',
    inSpec({ accessModes: ['ReadWriteOnce'], capacity: { storage: '0' }, local: { path: '/a/../b' } }),
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
    'spec.local.path: Invalid value: "/a/../b": must not contain \'..\'',
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ),
  row(
    persistentVolume,
    'a driver has a name, a handle and secrets that can be found',
    inSpec({ ...volume, hostPath: undefined, csi: { driver: '', nodeStageSecretRef: { name: 's' } } }),
    'spec.csi.volumeHandle: Required value',
    'spec.csi.driver: Required value',
    'spec.csi.nodeStageSecretRef.namespace: Required value',
  ),
  row(persistentVolumeClaim, 'a mode and a size', inSpec(claim)),
  row(
    persistentVolumeClaim,
    'nothing at all',
    {},
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ),
  row(
    persistentVolumeClaim,
    'modes are known, and one pod is alone',
    inSpec({ ...claim, accessModes: ['ReadWriteOncePod', 'ReadWriteMany', 'Wat'] }),
    'spec.accessModes: Unsupported value: "Wat": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  ),
  row(
    persistentVolumeClaim,
    'data of the core group comes from a claim',
    inSpec({ ...claim, dataSource: { kind: 'Pod', name: 'p' }, dataSourceRef: { kind: 'Pod', name: 'q' } }),
    'spec.dataSource: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    'spec.dataSourceRef: Invalid value: "Pod": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    'spec: Invalid value: "spec.dataSource": must match dataSourceRef',
  ),
])
  check(each as Row<ApiObject>)

const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } }
const base64 = (text: string) => new TextEncoder().encode(text).toBase64()

for (const each of [
  row(replicationController, 'the selector comes from the template', inSpec({ template })),
  row(replicationController, 'nothing at all', {}, 'spec.selector: Required value', 'spec.template: Required value'),
  row(
    replicationController,
    'another label, another policy, a negative number',
    inSpec({
      replicas: -1,
      selector: { x: 'y' },
      template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } },
    }),
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ),
  row(podTemplate, 'a good pod', { template }),
  row(
    podTemplate,
    'a bad label',
    { template: { ...template, metadata: { labels: { a: '!' } } } },
    'template.labels: Invalid value: "!": a valid label must be an empty string…',
  ),
  row(secret, 'any keys', { data: { 'a.b': 'eA==' } }),
  row(
    secret,
    'a bad key',
    { stringData: { '..a': '' } },
    'data[..a]: Invalid value: "..a": must not start with \'..\'',
  ),
  row(
    secret,
    'a mebibyte at most',
    { stringData: { a: 'x'.repeat(1_048_577) } },
    'data: Too long: may not be more than 1048576 bytes',
  ),
  row(
    secret,
    'a token names its account',
    { type: 'kubernetes.io/service-account-token' },
    'metadata.annotations[kubernetes.io/service-account.name]: Required value',
  ),
  row(
    secret,
    'a certificate has its key',
    { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } },
    'data[tls.key]: Required value',
  ),
  row(
    secret,
    'credentials of registries are JSON, and never shown',
    { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': base64('x') } },
    'data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character \'x\' looking for beginning of value',
  ),
  row(
    secret,
    'a name or a password',
    { type: 'kubernetes.io/basic-auth' },
    'data[username]: Required value',
    'data[password]: Required value',
  ),
  row(serviceAccount, 'anything', { secrets: [{ name: 's' }] }),
])
  check(each as Row<ApiObject>)

test('defaults of the other kinds', () => {
  const { metadata, spec } = made(replicationController, inSpec({ template }))
  deepEqual([metadata.labels, spec.selector, spec.replicas], [{ a: 'b' }, { a: 'b' }, 1])
  const text = made(secret, { data: { a: 'eA==' }, stringData: { a: 'ü' } })
  deepEqual([text.data, text.type, text.stringData], [{ a: 'w7w=' }, 'Opaque', undefined])
  deepEqual(made(limitRange, limits({ type: 'Container', max: { cpu: '2' }, min: { memory: '1' } })).spec.limits, [
    {
      type: 'Container',
      max: { cpu: '2' },
      min: { memory: '1' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1' },
    },
  ])
  const { persistentVolumeReclaimPolicy, volumeMode } = made(persistentVolume, inSpec(volume)).spec
  deepEqual([persistentVolumeReclaimPolicy, volumeMode], ['Retain', 'Filesystem'])
  const source = { kind: 'PersistentVolumeClaim', name: 'c' }
  const ofClaim = made(persistentVolumeClaim, inSpec({ ...claim, dataSource: source })).spec
  deepEqual(ofClaim.dataSourceRef, ofClaim.dataSource)
  deepEqual(persistentVolume.initialStatus?.(made(persistentVolume, {})), {
    phase: 'Pending',
    lastPhaseTransitionTime: meta.creationTimestamp,
  })
})

test('updates: immutable fields of the others', () => {
  const fixed = 'field is immutable when `immutable` is set'
  deepEqual(changeErrors(secret, { type: 'b', data: { a: '' } }, { type: 'a', immutable: true }), [
    'type: Invalid value: "b": field is immutable',
    `immutable: Forbidden: ${fixed}`,
    `data: Forbidden: ${fixed}`,
  ])
  deepEqual(changeErrors(resourceQuota, inSpec({ scopes: ['BestEffort'] }), {}), [
    'spec.scopes: Invalid value: ["BestEffort"]: field is immutable',
  ])
  deepEqual(changeErrors(resourceQuota, inSpec({ hard: { pods: '1' } }), {}), [])
  deepEqual(changeErrors(persistentVolume, inSpec({ ...volume, hostPath: { path: '/y' } }), inSpec(volume)), [
    'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
  ])
  const csi = { driver: 'd', volumeHandle: 'h' }
  const controllerExpandSecretRef = { name: 's', namespace: 'n' }
  const ofDriver = (fields: object) => {
    const { hostPath: _, ...rest } = volume as { readonly hostPath?: unknown }
    return inSpec({ ...rest, csi: { ...csi, ...fields } })
  }
  deepEqual(changeErrors(persistentVolume, ofDriver({ controllerExpandSecretRef }), ofDriver({})), [])
})

test('updates: the volume of a claim is set once, and its size can grow when it is bound', () => {
  const bound = { spec: { ...claim, volumeName: 'v' }, status: { phase: 'Bound', capacity: { storage: '1Gi' } } }
  const sized = (storage: string) => ({ ...bound, spec: { ...bound.spec, resources: { requests: { storage } } } })
  deepEqual(changeErrors(persistentVolumeClaim, bound, inSpec(claim)), [])
  deepEqual(changeErrors(persistentVolumeClaim, sized('2Gi'), bound), [])
  deepEqual(changeErrors(persistentVolumeClaim, sized('1Gi'), sized('2Gi')), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ])
  deepEqual(changeErrors(persistentVolumeClaim, { ...bound, spec: { ...bound.spec, volumeName: 'w' } }, bound), [
    'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
  ])
})

test('columns: volumes and claims', () => {
  deepEqual(cells(persistentVolume, { spec: { ...volume, claimRef: { namespace: 'n', name: 'c' } } }), [
    'x',
    '1Gi',
    'RWO',
    'Retain',
    'Pending',
    'n/c',
    '',
    '<unset>',
    '',
    '60s',
    'Filesystem',
  ])
  const bound = {
    spec: { ...claim, volumeName: 'v', storageClassName: 's' },
    status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
  }
  deepEqual(cells(persistentVolumeClaim, bound), [
    'x',
    'Bound',
    'v',
    '2Gi',
    'RWO,RWX',
    's',
    '<unset>',
    '60s',
    'Filesystem',
  ])
  deepEqual(cells(persistentVolumeClaim, inSpec(claim)).slice(2, 5), ['', '', ''])
  equal(
    cells(persistentVolumeClaim, { ...bound, metadata: { ...meta, deletionTimestamp: '2030-01-01T00:00:00Z' } })[1],
    'Terminating',
  )
})

test('columns of the other kinds', () => {
  deepEqual(cells(replicationController, { spec: { template }, status: { replicas: 1 } }), [
    'x',
    1,
    1,
    0,
    '60s',
    'c',
    'i:1',
    'a=b',
  ])
  deepEqual(cells(podTemplate, { template }), ['x', 'c', 'i:1', 'a=b'])
  const hard = { pods: '3', 'limits.cpu': '2' }
  deepEqual(cells(resourceQuota, { status: { hard, used: { pods: '6' } } }), [
    'x',
    'pods: 6/3',
    'limits.cpu: 0/2',
    '60s',
  ])
  deepEqual(cells(secret, { stringData: { a: 'b' } }), ['x', 'Opaque', 1, '60s'])
  deepEqual(cells(limitRange, {}), ['x', meta.creationTimestamp])
  deepEqual(cells(serviceAccount, {}), ['x', '60s'])
})
