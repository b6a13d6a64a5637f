// Lease: who holds a lock and until when: node heartbeats, leader election.
import { append } from '../../../base/collections/append.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, message, microTime, string, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { forbidden, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { validateLeaseStrategy } from '../lease-strategy.ts'

export const leaseSpec = message('io.k8s.api.coordination.v1.LeaseSpec', {
  holderIdentity: string(1, { pointer: true, description: 'The identity of the holder.' }),
  leaseDurationSeconds: int32(2, {
    pointer: true,
    description: 'How many seconds candidates wait after the last renewal before they acquire the lease.',
  }),
  acquireTime: microTime(3, { pointer: true, description: 'When the holder acquired the lease.' }),
  renewTime: microTime(4, { pointer: true, description: 'When the holder last renewed the lease.' }),
  leaseTransitions: int32(5, { pointer: true, description: 'How often the holder has changed.' }),
  strategy: string(6, { pointer: true, description: 'The strategy of coordinated leader election.' }),
  preferredHolder: string(7, { pointer: true, description: 'The identity that should acquire the lease.' }),
})
export interface LeaseSpec extends Infer<typeof leaseSpec> {}

export const leaseMessage = message(
  'io.k8s.api.coordination.v1.Lease',
  {
    metadata: objectMetaField,
    spec: struct(2, leaseSpec, { description: 'The wanted state of the object.' }),
  },
  'A lease that its holder renews, for leader election and heartbeats.',
)
export interface Lease extends ObjectOf<typeof leaseMessage> {}
export type LeaseInput = InputOf<typeof leaseMessage>

export const lease = defineKind<Lease, LeaseInput>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  shortNames: [],
  categories: [],
  namespaced: true,
  message: leaseMessage,
  hasStatus: false,
  createsOnUpdate: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate({ spec: { leaseDurationSeconds, leaseTransitions, strategy, preferredHolder } }) {
    const errors: FieldError[] = []
    if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0)
      errors.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'))
    if (leaseTransitions !== undefined && leaseTransitions < 0)
      errors.push(invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'))
    if (strategy !== undefined) append(errors, validateLeaseStrategy(strategy))
    if (preferredHolder && !strategy)
      errors.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'))
    return errors
  },
  validateUpdate: () => [],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Holder', ({ spec }) => spec.holderIdentity ?? ''),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})
