// CSIDriver: what a storage driver requires from the cluster.
import { append } from '../../../base/collections/append.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int64, list, message, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { duplicate, immutable, invalid, notSupported, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues, without } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const tokenRequest = message('io.k8s.api.storage.v1.TokenRequest', {
  audience: string(1, { required: true, description: 'Whom the token is for; the API server by default.' }),
  expirationSeconds: int64(2, {
    pointer: true,
    description: 'How long the token is valid, in seconds; 3600 by default.',
  }),
})
export interface TokenRequest extends Infer<typeof tokenRequest> {}

export const csiDriverSpec = message('io.k8s.api.storage.v1.CSIDriverSpec', {
  attachRequired: bool(1, {
    pointer: true,
    default: true,
    description: 'Whether volumes must be attached to a node before they are mounted; true by default.',
  }),
  podInfoOnMount: bool(2, {
    pointer: true,
    default: false,
    description: 'The driver requires information about the pod when it mounts a volume.',
  }),
  volumeLifecycleModes: list(3, 'string', {
    default: ['Persistent'],
    listType: 'set',
    description: 'Whether its volumes are persistent or ephemeral.',
  }),
  storageCapacity: bool(4, {
    pointer: true,
    default: false,
    description: 'The scheduler considers the storage capacity that the driver publishes.',
  }),
  fsGroupPolicy: string(5, {
    pointer: true,
    default: 'ReadWriteOnceWithFSType',
    description: 'Whether files get the group of the pod: ReadWriteOnceWithFSType (the default), File or None.',
  }),
  tokenRequests: list(6, tokenRequest, {
    listType: 'atomic',
    description: "Tokens of the pod's service account that are passed to the driver.",
  }),
  requiresRepublish: bool(7, {
    pointer: true,
    default: false,
    description: 'The driver is called periodically to update a mounted volume.',
  }),
  seLinuxMount: bool(8, {
    pointer: true,
    default: false,
    description: "Volumes can be mounted with the pod's SELinux label.",
  }),
  nodeAllocatableUpdatePeriodSeconds: int64(9, {
    pointer: true,
    description:
      'How often, in seconds (at least 10), the number of volumes that a node can have is updated; never by default.',
  }),
  serviceAccountTokenInSecrets: bool(10, {
    pointer: true,
    description: "Tokens are passed in the secrets instead of the volume's attributes.",
  }),
  preventPodSchedulingIfMissing: bool(11, {
    pointer: true,
    description: 'Pods with its volumes are not scheduled to nodes without the driver.',
  }),
})
export interface CSIDriverSpec extends Infer<typeof csiDriverSpec> {}

export const csiDriverMessage = message(
  'io.k8s.api.storage.v1.CSIDriver',
  {
    metadata: objectMetaField,
    spec: struct(2, csiDriverSpec, { required: true, description: 'The wanted state of the object.' }),
  },
  'The capabilities and requirements of a storage driver.',
)
export interface CSIDriver extends ObjectOf<typeof csiDriverMessage> {}
export type CSIDriverInput = InputOf<typeof csiDriverMessage>

export const csiDriver = defineKind<CSIDriver, CSIDriverInput>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIDriver',
  plural: 'csidrivers',
  singular: 'csidriver',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: csiDriverMessage,
  hasStatus: false,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  // v1.36 does not enable the feature of this field by default, so the field is dropped.
  applyDefaults: (object) => ({ ...object, spec: without(object.spec, 'preventPodSchedulingIfMissing') }),
  validate: ({ spec }) => validateCsiDriver(spec),
  validateUpdate: ({ spec }, old) =>
    csiDriverImmutables
      .filter(([field]) => !equalValues(spec[field], old.spec[field]))
      .map(([field, path]) => immutable(path, spec[field])),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('AttachRequired', ({ spec }) => spec.attachRequired ?? true, { type: 'boolean' }),
    column('PodInfoOnMount', ({ spec }) => spec.podInfoOnMount ?? false, { type: 'boolean' }),
    column('StorageCapacity', ({ spec }) => spec.storageCapacity ?? false, { type: 'boolean' }),
    column('TokenRequests', ({ spec: { tokenRequests = [] } }) =>
      tokenRequests.length === 0 ? '<unset>' : tokenRequests.map(({ audience }) => audience).join(','),
    ),
    column('RequiresRepublish', ({ spec }) => spec.requiresRepublish ?? false, { type: 'boolean' }),
    column('Modes', ({ spec }) => spec.volumeLifecycleModes.join(',') || '<none>'),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32
const updatePeriodSecondsMin = 10
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']

function validateCsiDriver(spec: CSIDriverSpec): FieldError[] {
  const { fsGroupPolicy, volumeLifecycleModes, nodeAllocatableUpdatePeriodSeconds: period } = spec
  const errors: FieldError[] = []
  if (!fsGroupPolicies.includes(fsGroupPolicy))
    errors.push(notSupported('spec.fsGroupPolicy', fsGroupPolicy, fsGroupPolicies))
  append(errors, validateTokenRequests(spec.tokenRequests ?? []))
  for (const mode of volumeLifecycleModes)
    if (!lifecycleModes.includes(mode)) errors.push(notSupported('spec.volumeLifecycleModes', mode, lifecycleModes))
  if (spec.serviceAccountTokenInSecrets && (spec.tokenRequests ?? []).length === 0)
    errors.push(
      invalid(
        'spec.serviceAccountTokenInSecrets',
        true,
        'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
      ),
    )
  if (period !== undefined && period < updatePeriodSecondsMin)
    errors.push(
      invalid(
        'spec.nodeAllocatableUpdatePeriodSeconds',
        period,
        `must be greater than or equal to ${updatePeriodSecondsMin} seconds`,
      ),
    )
  return errors
}

function validateTokenRequests(requests: readonly TokenRequest[]): FieldError[] {
  const audiences = new Set<string>()
  return requests.flatMap(({ audience, expirationSeconds: seconds = tokenSecondsMin }, index) => {
    const path = `spec.tokenRequests[${index}]`
    if (audiences.has(audience)) return [duplicate(`${path}.audience`, audience)]
    audiences.add(audience)
    const reject = (detail: string) => [invalid(`${path}.expirationSeconds`, seconds, detail)]
    if (seconds < tokenSecondsMin) return reject('may not specify a duration less than 10 minutes')
    return seconds > tokenSecondsMax ? reject('may not specify a duration larger than 2^32 seconds') : []
  })
}

/** Upstream misspells the first of the two fields; the misspelling is kept, because scripts may parse it. */
const csiDriverImmutables = [
  ['attachRequired', 'spec.attachedRequired'],
  ['volumeLifecycleModes', 'spec.volumeLifecycleModes'],
] as const
