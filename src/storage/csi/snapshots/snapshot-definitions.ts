// CustomResourceDefinitions of snapshot.storage.k8s.io/v1: the fields, validation rules and columns that the snapshot API
// documents.
import type { CustomResourceDefinitionInput } from '../../../api/apiextensions/v1/custom-resource-definition.ts'

const group = 'snapshot.storage.k8s.io'

type Version = NonNullable<CustomResourceDefinitionInput['spec']['versions']>[number]
type Schema = NonNullable<NonNullable<Version['schema']>['openAPIV3Schema']>
type Rule = NonNullable<Schema['x-kubernetes-validations']>[number]
type Column = NonNullable<Version['additionalPrinterColumns']>[number]

const string: Schema = { type: 'string' }
const boolean: Schema = { type: 'boolean' }
const time: Schema = { type: 'string', format: 'date-time' }
const int64: Schema = { type: 'integer', format: 'int64' }
const deletionPolicy: Schema = { type: 'string', enum: ['Delete', 'Retain'] }
const error: Schema = { type: 'object', properties: { message: string, time } }

const object = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  ...(required.length > 0 ? { required } : {}),
})

const immutable = (field: string): Schema => ({
  type: 'string',
  'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: `${field} is immutable` }],
})

const requiredOnceSet = (field: string): Rule => ({
  rule: `!has(oldSelf.${field}) || has(self.${field})`,
  message: `${field} is required once set`,
})

/** Exactly one of two immutable fields. */
const oneOf = (first: string, second: string, message: string): Schema => ({
  ...object({ [first]: immutable(first), [second]: immutable(second) }),
  'x-kubernetes-validations': [
    requiredOnceSet(first),
    requiredOnceSet(second),
    { rule: `(has(self.${first}) && !has(self.${second})) || (!has(self.${first}) && has(self.${second}))`, message },
  ],
})

const className: Schema = {
  type: 'string',
  'x-kubernetes-validations': [
    { rule: 'size(self) > 0', message: 'volumeSnapshotClassName must not be the empty string when set' },
  ],
}

const column = (name: string, jsonPath: string, type = 'string'): Column => ({ name, jsonPath, type })
const age = column('Age', '.metadata.creationTimestamp', 'date')
const readyColumn = column('ReadyToUse', '.status.readyToUse', 'boolean')

interface Definition {
  readonly kind: string
  readonly plural: string
  readonly shortNames: readonly string[]
  readonly scope: 'Cluster' | 'Namespaced'
  readonly schema: Schema
  readonly columns: readonly Column[]
  readonly hasStatus: boolean
}

const definition = ({
  kind,
  plural,
  shortNames,
  scope,
  schema,
  columns,
  hasStatus,
}: Definition): CustomResourceDefinitionInput => ({
  metadata: {
    name: `${plural}.${group}`,
    annotations: {
      'api-approved.kubernetes.io': 'https://github.com/kubernetes-csi/external-snapshotter/pull/814',
    },
  },
  spec: {
    group,
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase(), shortNames },
    scope,
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        additionalPrinterColumns: columns,
        ...(hasStatus ? { subresources: { status: {} } } : {}),
      },
    ],
  },
})

const typeFields = { apiVersion: string, kind: string, metadata: { type: 'object' } as Schema }

export const volumeSnapshotDefinition = definition({
  kind: 'VolumeSnapshot',
  plural: 'volumesnapshots',
  shortNames: ['vs'],
  scope: 'Namespaced',
  hasStatus: true,
  schema: object(
    {
      ...typeFields,
      spec: object(
        {
          source: oneOf(
            'persistentVolumeClaimName',
            'volumeSnapshotContentName',
            'exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set',
          ),
          volumeSnapshotClassName: className,
        },
        ['source'],
      ),
      status: object({
        boundVolumeSnapshotContentName: string,
        creationTime: time,
        error,
        readyToUse: boolean,
        restoreSize: { type: 'string', pattern: '^[+-]?[0-9]+(\\.[0-9]*)?([KMGTPE]i?|[numk]|[eE][+-]?[0-9]+)?$' },
        volumeGroupSnapshotName: string,
      }),
    },
    ['spec'],
  ),
  columns: [
    readyColumn,
    column('SourcePVC', '.spec.source.persistentVolumeClaimName'),
    column('SourceSnapshotContent', '.spec.source.volumeSnapshotContentName'),
    column('RestoreSize', '.status.restoreSize'),
    column('SnapshotClass', '.spec.volumeSnapshotClassName'),
    column('SnapshotContent', '.status.boundVolumeSnapshotContentName'),
    column('CreationTime', '.status.creationTime', 'date'),
    age,
  ],
})

const snapshotRef: Schema = {
  ...object({
    apiVersion: string,
    fieldPath: string,
    kind: string,
    name: string,
    namespace: string,
    resourceVersion: string,
    uid: string,
  }),
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [
    {
      rule: 'has(self.name) && has(self.__namespace__)',
      message: 'both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set',
    },
  ],
}

export const volumeSnapshotContentDefinition = definition({
  kind: 'VolumeSnapshotContent',
  plural: 'volumesnapshotcontents',
  shortNames: ['vsc', 'vscs'],
  scope: 'Cluster',
  hasStatus: true,
  schema: object(
    {
      ...typeFields,
      spec: {
        ...object(
          {
            deletionPolicy,
            driver: string,
            source: oneOf(
              'volumeHandle',
              'snapshotHandle',
              'exactly one of volumeHandle and snapshotHandle must be set',
            ),
            sourceVolumeMode: immutable('sourceVolumeMode'),
            volumeSnapshotClassName: className,
            volumeSnapshotRef: snapshotRef,
          },
          ['deletionPolicy', 'driver', 'source', 'volumeSnapshotRef'],
        ),
        'x-kubernetes-validations': [requiredOnceSet('sourceVolumeMode')],
      },
      status: object({
        creationTime: int64,
        error,
        readyToUse: boolean,
        restoreSize: { ...int64, minimum: 0 },
        snapshotHandle: string,
        volumeGroupSnapshotHandle: string,
      }),
    },
    ['spec'],
  ),
  columns: [
    readyColumn,
    column('RestoreSize', '.status.restoreSize', 'integer'),
    column('DeletionPolicy', '.spec.deletionPolicy'),
    column('Driver', '.spec.driver'),
    column('VolumeSnapshotClass', '.spec.volumeSnapshotClassName'),
    column('VolumeSnapshot', '.spec.volumeSnapshotRef.name'),
    column('VolumeSnapshotNamespace', '.spec.volumeSnapshotRef.namespace'),
    age,
  ],
})

export const volumeSnapshotClassDefinition = definition({
  kind: 'VolumeSnapshotClass',
  plural: 'volumesnapshotclasses',
  shortNames: ['vsclass', 'vsclasses'],
  scope: 'Cluster',
  hasStatus: false,
  schema: object(
    { ...typeFields, deletionPolicy, driver: string, parameters: { type: 'object', additionalProperties: string } },
    ['deletionPolicy', 'driver'],
  ),
  columns: [column('Driver', '.driver'), column('DeletionPolicy', '.deletionPolicy'), age],
})

/** In the order in which they are installed. */
export const snapshotDefinitions: readonly CustomResourceDefinitionInput[] = [
  volumeSnapshotClassDefinition,
  volumeSnapshotContentDefinition,
  volumeSnapshotDefinition,
]
