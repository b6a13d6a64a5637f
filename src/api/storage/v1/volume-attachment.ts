// VolumeAttachment: a request to attach a volume to a node, and its result.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int32, map, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { persistentVolumeSpec, type PersistentVolumeSpec } from '../../core/v1/volume/persistent-volume-spec.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import {
  forbidden,
  immutable,
  invalid,
  required,
  tooLong,
  type FieldError,
} from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { ageText } from '../../columns/age.ts'
import { validateDriverName } from '../../validation/driver-name-rules.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'

export const volumeAttachmentSource = message('io.k8s.api.storage.v1.VolumeAttachmentSource', {
  persistentVolumeName: string(1, { pointer: true, description: 'The name of the PersistentVolume.' }),
  inlineVolumeSpec: struct(2, persistentVolumeSpec, {
    pointer: true,
    description: 'The volume itself, where a pod of an in-tree driver names it.',
  }),
})
export interface VolumeAttachmentSource extends Infer<typeof volumeAttachmentSource> {}

export const volumeAttachmentSpec = message('io.k8s.api.storage.v1.VolumeAttachmentSpec', {
  attacher: string(1, { required: true, description: 'The driver that attaches the volume.' }),
  source: struct(2, volumeAttachmentSource, { required: true, description: 'The volume.' }),
  nodeName: string(3, { required: true, description: 'The node.' }),
})
export interface VolumeAttachmentSpec extends Infer<typeof volumeAttachmentSpec> {}

export const volumeError = message('io.k8s.api.storage.v1.VolumeError', {
  time: time(1, { description: 'When the error occurred.' }),
  message: string(2, { description: 'The error.' }),
  errorCode: int32(3, { pointer: true, description: 'The gRPC code of the error.' }),
})
export interface VolumeError extends Infer<typeof volumeError> {}

export const volumeAttachmentStatus = message('io.k8s.api.storage.v1.VolumeAttachmentStatus', {
  attached: bool(1, { required: true, description: 'Whether the volume is attached.' }),
  attachmentMetadata: map(2, 'string', { description: 'Metadata from the driver that is needed for mounting.' }),
  attachError: struct(3, volumeError, { pointer: true, description: 'The last error of attaching.' }),
  detachError: struct(4, volumeError, { pointer: true, description: 'The last error of detaching.' }),
})
export interface VolumeAttachmentStatus extends Infer<typeof volumeAttachmentStatus> {}

export const volumeAttachmentMessage = message(
  'io.k8s.api.storage.v1.VolumeAttachment',
  {
    metadata: objectMetaField,
    spec: struct(2, volumeAttachmentSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, volumeAttachmentStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Attaches a volume to a node.',
)
export interface VolumeAttachment extends ObjectOf<typeof volumeAttachmentMessage> {}
export type VolumeAttachmentInput = InputOf<typeof volumeAttachmentMessage>

export const volumeAttachment = defineKind<VolumeAttachment, VolumeAttachmentInput>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  singular: 'volumeattachment',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: volumeAttachmentMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  initialStatus: () => ({ attached: false }),
  validate: ({ spec, status }) => [...validateAttachment(spec), ...validateAttachmentStatus(status)],
  validateUpdate: ({ spec }, old) => (equalValues(spec, old.spec) ? [] : [immutable('spec', spec)]),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Attacher', ({ spec }) => spec.attacher, { format: 'name' }),
    column('PV', ({ spec }) => spec.source.persistentVolumeName ?? ''),
    column('Node', ({ spec }) => spec.nodeName),
    column('Attached', ({ status }) => status.attached, { type: 'boolean' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

const metadataBytesMax = 256 << 10
const errorMessageBytesMax = 1024

const validateAttachment = ({ attacher, source, nodeName }: VolumeAttachmentSpec): FieldError[] => [
  ...validateSource(source),
  ...dnsSubdomainErrors(nodeName ?? '').map((detail) => invalid('spec.nodeName', nodeName ?? '', detail)),
  ...validateDriverName(attacher, 'spec.attacher'),
]

function validateSource({ persistentVolumeName: name, inlineVolumeSpec }: VolumeAttachmentSource): FieldError[] {
  const path = 'spec.source'
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (name === undefined)
    return inlineVolumeSpec === undefined
      ? [required(path, detail)]
      : validateInlineVolume(inlineVolumeSpec, `${path}.inlineVolumeSpec`)
  const errors = dnsSubdomainErrors(name).map((error) => invalid(`${path}.persistentVolumeName`, name, error))
  if (inlineVolumeSpec !== undefined) return [forbidden(path, detail), ...errors]
  if (name !== '') return errors
  return [required(`${path}.persistentVolumeName`, 'must specify non empty persistentVolumeName'), ...errors]
}

function validateInlineVolume({ capacity, csi, accessModes = [] }: PersistentVolumeSpec, path: string): FieldError[] {
  const context = 'in the context of inline volumes'
  return [
    ...(capacity === undefined ? [] : [forbidden(`${path}.capacity`, `may not be specified ${context}`)]),
    ...(csi === undefined ? [required(`${path}.csi`, `has to be specified ${context}`)] : []),
    ...(accessModes.length === 0 ? [required(`${path}.accessModes`)] : []),
  ]
}

function validateAttachmentStatus(status: VolumeAttachmentStatus): FieldError[] {
  const { attachmentMetadata = {} } = status
  const size = Object.entries(attachmentMetadata).reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  const errors = size > metadataBytesMax ? [tooLong('status.attachmentMetadata', metadataBytesMax)] : []
  for (const field of ['attachError', 'detachError'] as const) {
    const { message: text = '', errorCode = 0 } = status[field] ?? {}
    // Upstream's message shows the limit of the metadata here, too.
    if (text.length > errorMessageBytesMax) errors.push(tooLong(`status.${field}.message`, metadataBytesMax))
    if (errorCode < 0)
      errors.push(invalid(`status.${field}.errorCode`, errorCode, 'must be between 0 and 2147483647, inclusive'))
  }
  return errors
}
