// IP families of a Service: the defaults of ipFamilies and ipFamilyPolicy, and what a cluster cannot provide. Addresses are
// allocated for these families afterwards.
import { familyOf } from '../../../base/net/address-family.ts'
import { isHeadless, validateClusterAddresses } from '../../../api/core/v1/service/service-address-rules.ts'
import type { ServiceSpec } from '../../../api/core/v1/service/service-spec.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import type { IpFamily } from './service-ranges.ts'
import { needsClusterAddress } from './service-type-change.ts'

export type FamilyVerdict =
  | { readonly kind: 'accepted'; readonly spec: ServiceSpec }
  | { readonly kind: 'rejected'; readonly errors: readonly FieldError[] }

const both = ['IPv4', 'IPv6'] as const
const isDual = ({ ipFamilyPolicy }: ServiceSpec): boolean => ipFamilyPolicy !== 'SingleStack'
const isUnselected = (spec: ServiceSpec): boolean => isHeadless(spec) && spec.selector === undefined

/** `families` are those of the cluster; `old` is undefined for a new Service. */
export function decideFamilies(
  sent: ServiceSpec,
  old: ServiceSpec | undefined,
  families: readonly [IpFamily, ...IpFamily[]],
): FamilyVerdict {
  const malformed = validateClusterAddresses(sent)
  if (malformed.length > 0) return { kind: 'rejected', errors: malformed }
  const spec = withPolicy(old === undefined ? sent : withOldFamilies(sent, old))
  const inferred = withFamiliesOfAddresses(spec, families)
  const early = [...stackErrors(spec, old), ...inferred.errors]
  if (early.length > 0) return { kind: 'rejected', errors: early }
  const complete = withAllFamilies(inferred.spec, families)
  const errors = isUnselected(complete) ? [] : unavailableErrors(complete, families)
  return errors.length > 0 ? { kind: 'rejected', errors } : { kind: 'accepted', spec: complete }
}

/** An update preserves what it omits. A change to SingleStack releases the second family and its address. */
function withOldFamilies(sent: ServiceSpec, old: ServiceSpec): ServiceSpec {
  if (!needsClusterAddress(old)) return sent
  const spec: ServiceSpec = {
    ...sent,
    ...(sent.ipFamilyPolicy === undefined && old.ipFamilyPolicy !== undefined
      ? { ipFamilyPolicy: old.ipFamilyPolicy }
      : {}),
    ...(sent.ipFamilies === undefined && old.ipFamilies !== undefined ? { ipFamilies: old.ipFamilies } : {}),
  }
  if (isDual(spec) || !isDual(old)) return spec
  return {
    ...spec,
    ...(equalValues(spec.ipFamilies, old.ipFamilies) ? firstOf('ipFamilies', spec.ipFamilies) : {}),
    ...(equalValues(spec.clusterIPs, old.clusterIPs) ? firstOf('clusterIPs', spec.clusterIPs) : {}),
  }
}

const firstOf = (
  field: 'ipFamilies' | 'clusterIPs',
  values: readonly string[] | undefined,
): Pick<ServiceSpec, 'ipFamilies' | 'clusterIPs'> => (values === undefined ? {} : { [field]: values.slice(0, 1) })

const withPolicy = (spec: ServiceSpec): ServiceSpec => ({
  ...spec,
  ipFamilyPolicy: spec.ipFamilyPolicy ?? (isUnselected(spec) ? 'RequireDualStack' : 'SingleStack'),
})

/** Contradictions between the policy and the number of families and addresses. */
function stackErrors(spec: ServiceSpec, old: ServiceSpec | undefined): FieldError[] {
  const { clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec
  const error = (detail: string) => invalid('spec.ipFamilyPolicy', ipFamilyPolicy, detail)
  const counts = [
    ['cluster IP', clusterIPs.length, old?.clusterIPs?.length ?? 0],
    ['IP family', ipFamilies.length, old?.ipFamilies?.length ?? 0],
  ] as const
  return counts.flatMap(([what, count, before]) => {
    if (!isDual(spec) && count > 1)
      return [
        error(
          `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what === 'IP family' ? 'IP families' : 'cluster IPs'} are specified`,
        ),
      ]
    return isDual(spec) && count === 1 && before > 1
      ? [error(`must be 'SingleStack' to release the secondary ${what}`)]
      : []
  })
}

/** Families that are not given follow from the addresses. */
function withFamiliesOfAddresses(
  spec: ServiceSpec,
  families: readonly IpFamily[],
): { readonly spec: ServiceSpec; readonly errors: readonly FieldError[] } {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (isHeadless(spec)) return { spec, errors: [] }
  const inferred = clusterIPs.map(familyOf).slice(ipFamilies.length)
  const errors = inferred.flatMap((family, index) =>
    families.includes(family)
      ? []
      : [
          invalid(
            `spec.clusterIPs[${ipFamilies.length + index}]`,
            clusterIPs,
            `${family} is not configured on this cluster`,
          ),
        ],
  )
  return { spec: { ...spec, ipFamilies: [...ipFamilies, ...inferred] }, errors }
}

function withAllFamilies(spec: ServiceSpec, families: readonly [IpFamily, ...IpFamily[]]): ServiceSpec {
  const { ipFamilies = [] } = spec
  const chosen = ipFamilies.length === 0 ? [families[0]] : ipFamilies
  const available = isUnselected(spec) ? both : families
  const others = isDual(spec) && chosen.length === 1 ? available.filter((family) => !chosen.includes(family)) : []
  return { ...spec, ipFamilies: [...chosen, ...others] }
}

function unavailableErrors(
  { ipFamilies = [], ipFamilyPolicy }: ServiceSpec,
  families: readonly IpFamily[],
): FieldError[] {
  const isRequired = ipFamilyPolicy === 'RequireDualStack'
  return [
    ...(isRequired && families.length < both.length
      ? [invalid('spec.ipFamilyPolicy', ipFamilyPolicy, 'this cluster is not configured for dual-stack services')]
      : []),
    ...ipFamilies.flatMap((family, index) =>
      (families as readonly string[]).includes(family)
        ? []
        : [invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')],
    ),
  ]
}
