// ServiceCIDR: the range of cluster IPs of Services, one for each IP family.
import { familyOf } from '../../../base/net/address-family.ts'
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { list, message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { condition } from '../../meta/v1/condition.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { immutable, invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { canonicalCidrErrors } from '../../validation/network-rules.ts'

export const serviceCidrSpec = message('io.k8s.api.networking.v1.ServiceCIDRSpec', {
  cidrs: list(1, 'string', { listType: 'atomic', description: 'The range, or one for each address family.' }),
})
export interface ServiceCIDRSpec extends Infer<typeof serviceCidrSpec> {}

export const serviceCidrStatus = message('io.k8s.api.networking.v1.ServiceCIDRStatus', {
  conditions: list(1, condition, {
    listType: 'map',
    keys: ['type'],
    patch: 'merge',
    mergeKey: 'type',
    description: 'Whether addresses are allocated from the range.',
  }),
})
export interface ServiceCIDRStatus extends Infer<typeof serviceCidrStatus> {}

export const serviceCidrMessage = message(
  'io.k8s.api.networking.v1.ServiceCIDR',
  {
    metadata: objectMetaField,
    spec: struct(2, serviceCidrSpec, { description: 'The wanted state of the object.' }),
    status: struct(3, serviceCidrStatus, {
      description: 'The observed state of the object, which the cluster writes.',
    }),
  },
  'A range of cluster IPs of Services.',
)
export interface ServiceCIDR extends ObjectOf<typeof serviceCidrMessage> {}
export type ServiceCIDRInput = InputOf<typeof serviceCidrMessage>

export const serviceCidr = defineKind<ServiceCIDR, ServiceCIDRInput>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  singular: 'servicecidr',
  shortNames: [],
  categories: [],
  namespaced: false,
  message: serviceCidrMessage,
  hasStatus: true,
  countsGenerations: false,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => object,
  validate: ({ spec }) => validateCidrs(spec),
  validateUpdate: ({ spec }, old) => validateCidrsUpdate(spec.cidrs ?? [], old.spec.cidrs ?? []),
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('CIDRs', ({ spec }) => (spec.cidrs ?? []).join(',')),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
  ],
  fieldLabels: {},
})

function validateCidrs(spec: ServiceCIDRSpec): FieldError[] {
  const { cidrs = [] } = spec
  const path = 'spec.cidrs'
  if (cidrs.length === 0) return [required(path, 'at least one CIDR required')]
  if (cidrs.length > 2) return [invalid(path, { CIDRs: cidrs }, 'may only hold up to 2 values')]
  const errors = cidrs.flatMap((cidr, index) =>
    canonicalCidrErrors(cidr).map((detail) => invalid(`${path}[${index}]`, cidr, detail)),
  )
  if (errors.length > 0) return errors
  const families = new Set(cidrs.map(familyOf))
  return families.size === cidrs.length
    ? []
    : [invalid(path, cidrs, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64')]
}

/** A range of the other family may be added; everything else is immutable. */
function validateCidrsUpdate(cidrs: readonly string[], old: readonly string[]): FieldError[] {
  if (cidrs.length !== old.length && !(old.length === 1 && cidrs.length === 2)) return [immutable('spec.cidrs', cidrs)]
  return old.flatMap((before, index) =>
    cidrs[index] === before ? [] : [immutable(`spec.cidrs[${index}]`, cidrs[index])],
  )
}
