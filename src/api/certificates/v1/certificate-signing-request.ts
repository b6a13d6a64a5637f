// CertificateSigningRequest: requests a certificate from a signer, after approval.
import { readWriteVerbs } from '../../kind/subresource.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bytes, int32, list, listOf, map, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { ageText, humanDuration } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import {
  validateConditions,
  validateExpiration,
  validatePemRequest,
  validateSignerName,
  validateStatusChange,
  validateUsages,
} from './signing-request-rules.ts'

export const certificateSigningRequestSpec = message('io.k8s.api.certificates.v1.CertificateSigningRequestSpec', {
  request: bytes(1, { required: true, description: 'The request in PEM, in base64.' }),
  username: string(2, { description: 'The user that created the request; set by the server.' }),
  uid: string(3, { description: 'The uid of the user; set by the server.' }),
  groups: list(4, 'string', { listType: 'atomic', description: 'The groups of the user; set by the server.' }),
  usages: list(5, 'string', {
    enum: [
      'any',
      'cert sign',
      'client auth',
      'code signing',
      'content commitment',
      'crl sign',
      'data encipherment',
      'decipher only',
      'digital signature',
      'email protection',
      'encipher only',
      'ipsec end system',
      'ipsec tunnel',
      'ipsec user',
      'key agreement',
      'key encipherment',
      'microsoft sgc',
      'netscape sgc',
      'ocsp signing',
      's/mime',
      'server auth',
      'signing',
      'timestamping',
    ],
    listType: 'atomic',
    description: 'What the certificate may be used for.',
  }),
  extra: map(6, listOf('string'), { description: 'Extra attributes of the user; set by the server.' }),
  signerName: string(7, { required: true, description: 'The name of the signer.' }),
  expirationSeconds: int32(8, {
    pointer: true,
    description:
      'The requested validity of the certificate in seconds, at least 600; the signer may issue a shorter one.',
  }),
})
export interface CertificateSigningRequestSpec extends Infer<typeof certificateSigningRequestSpec> {}

export const certificateSigningRequestCondition = message(
  'io.k8s.api.certificates.v1.CertificateSigningRequestCondition',
  {
    type: string(1, { required: true, description: 'Approved, Denied or Failed.' }),
    reason: string(2, { description: 'A word in CamelCase for programs: why the status is what it is.' }),
    message: string(3, { description: 'A sentence for people about the last transition.' }),
    lastUpdateTime: time(4, { description: 'When the condition was written last.' }),
    lastTransitionTime: time(5, { description: 'When the status changed last.' }),
    status: string(6, { required: true, description: 'True, False or Unknown.' }),
  },
)
export interface CertificateSigningRequestCondition extends Infer<typeof certificateSigningRequestCondition> {}

export const certificateSigningRequestStatus = message('io.k8s.api.certificates.v1.CertificateSigningRequestStatus', {
  conditions: list(1, certificateSigningRequestCondition, {
    listType: 'map',
    keys: ['type'],
    description: 'Whether the request was approved, denied or failed.',
  }),
  certificate: bytes(2, { description: 'The certificate in PEM, in base64, once it is signed.' }),
})
export interface CertificateSigningRequestStatus extends Infer<typeof certificateSigningRequestStatus> {}

export const certificateSigningRequestMessage = message(
  'io.k8s.api.certificates.v1.CertificateSigningRequest',
  {
    metadata: objectMetaField,
    spec: struct(2, certificateSigningRequestSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, certificateSigningRequestStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'Requests a certificate from a signer.',
)
export interface CertificateSigningRequest extends ObjectOf<typeof certificateSigningRequestMessage> {}
export type CertificateSigningRequestInput = InputOf<typeof certificateSigningRequestMessage>

export const certificateSigningRequest = defineKind<CertificateSigningRequest, CertificateSigningRequestInput>({
  group: 'certificates.k8s.io',
  version: 'v1',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  categories: [],
  namespaced: false,
  message: certificateSigningRequestMessage,
  subresources: [{ name: 'approval', verbs: readWriteVerbs }],
  hasStatus: true,
  countsGenerations: false,
  // Upstream accepts any name here.
  validateName: () => [],
  applyDefaults: (object) => object,
  validate: ({ spec, status }) => [
    ...validatePemRequest(spec.request),
    ...validateUsages(spec.usages ?? []),
    ...validateSignerName(spec.signerName),
    ...validateExpiration(spec.expirationSeconds),
    ...validateConditions(status.conditions ?? []),
  ],
  validateUpdate: () => [],
  validateStatusUpdate: ({ status }, old) => validateStatusChange(status, old.status),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('SignerName', ({ spec }) => spec.signerName || '<none>'),
    column('Requestor', ({ spec }) => spec.username ?? ''),
    column('RequestedDuration', ({ spec: { expirationSeconds: seconds } }) =>
      seconds === undefined ? '<none>' : humanDuration(seconds * 1000),
    ),
    column('Condition', conditionText),
  ],
  fieldLabels: { 'spec.signerName': ({ spec }) => spec.signerName },
})

function conditionText({ status: { conditions = [], certificate = '' } }: CertificateSigningRequest): string {
  const has = (type: string) => conditions.some((condition) => condition.type === type)
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return [decision, ...(has('Failed') ? ['Failed'] : []), ...(certificate === '' ? [] : ['Issued'])].join(',')
}
