// LeaseCandidate: who stands for a Lease in coordinated leader election, and with which version. The API server asks with
// `pingTime`, and a candidate responds with `renewTime`. Served only with the feature gate CoordinatedLeaderElection.
import { compareSemver, parseSemver, type Semver } from '../../../cel/library/kubernetes/semver-functions.ts'
import { message, microTime, string, struct } from '../../../schema/descriptor/field.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { immutable, invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { append } from '../../../base/collections/append.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { configKeyErrors } from '../../validation/config-key.ts'
import { oldestEmulationVersion, validateLeaseStrategy } from '../lease-strategy.ts'

export const leaseCandidateSpec = message('io.k8s.api.coordination.v1beta1.LeaseCandidateSpec', {
  leaseName: string(1, { required: true, description: 'The name of the lease that the candidate stands for.' }),
  pingTime: microTime(2, { pointer: true, description: 'When the API server last asked the candidate to respond.' }),
  renewTime: microTime(3, { pointer: true, description: 'When the candidate last responded.' }),
  binaryVersion: string(4, { required: true, description: 'The version of the program.' }),
  emulationVersion: string(5, { description: 'The version that the program emulates.' }),
  strategy: string(6, { required: true, omitEmpty: true, description: 'The strategy by which the holder is chosen.' }),
})
export interface LeaseCandidateSpec extends Infer<typeof leaseCandidateSpec> {}

export const leaseCandidateMessage = message(
  'io.k8s.api.coordination.v1beta1.LeaseCandidate',
  {
    metadata: objectMetaField,
    spec: struct(2, leaseCandidateSpec, { description: 'The wanted state of the object.' }),
  },
  'A candidate for a lease in coordinated leader election.',
)
export interface LeaseCandidate extends ObjectOf<typeof leaseCandidateMessage> {}
export type LeaseCandidateInput = InputOf<typeof leaseCandidateMessage>

export const leaseCandidate = defineKind<LeaseCandidate, LeaseCandidateInput>({
  group: 'coordination.k8s.io',
  version: 'v1beta1',
  kind: 'LeaseCandidate',
  plural: 'leasecandidates',
  singular: 'leasecandidate',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: leaseCandidateMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: configKeyErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateSpec(spec),
  validateUpdate: ({ spec }, old) =>
    spec.leaseName === old.spec.leaseName ? [] : [immutable('spec.leaseName', spec.leaseName)],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('LeaseName', ({ spec }) => spec.leaseName),
    column('BinaryVersion', ({ spec }) => spec.binaryVersion),
    column('EmulationVersion', ({ spec }) => spec.emulationVersion ?? ''),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

function validateSpec({ leaseName, binaryVersion, emulationVersion = '', strategy }: LeaseCandidateSpec): FieldError[] {
  const errors: FieldError[] = []
  if (leaseName === '') errors.push(required('spec.leaseName', ''))
  const emulation = versionIn('emulationVersion', emulationVersion, errors)
  if (binaryVersion === '') errors.push(required('spec.binaryVersion', ''))
  const binary = versionIn('binaryVersion', binaryVersion, errors)
  if (binaryVersion !== '' && emulationVersion !== '' && compareSemver(binary, emulation) < 0)
    errors.push(invalid('spec.binaryVersion', binaryVersion, 'must be greater than or equal to `emulationVersion`'))
  if (!strategy) return [...errors, required('spec.strategy', '')]
  if (strategy === oldestEmulationVersion && compareSemver(emulation, zero) === 0)
    errors.push(required('spec.emulationVersion', "must be specified when `strategy` is 'OldestEmulationVersion'"))
  append(errors, validateLeaseStrategy(strategy))
  return errors
}

const zero = parseSemver('0.0.0') as Semver

/** As upstream, a missing or invalid version is compared as 0.0.0. */
function versionIn(field: 'emulationVersion' | 'binaryVersion', text: string, errors: FieldError[]): Semver {
  const version = parseSemver(text)
  if (version === undefined && text !== '')
    errors.push(invalid(`spec.${field}`, text, 'must be a valid semantic version'))
  return version ?? zero
}
