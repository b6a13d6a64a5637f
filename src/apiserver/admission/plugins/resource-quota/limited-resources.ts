// limitedResources: resources and scopes that can be used only if a quota covers them.
import { matchesQuotaScopes, matchingScopes, requirementsOf } from '../../../../api/core/v1/quota/quota-scopes.ts'
import { quotaUsageOf } from '../../../../api/core/v1/quota/quota-usage.ts'
import type { ResourceQuota } from '../../../../api/core/v1/quota/resource-quota.ts'
import type { Requirement } from '../../../../api/selectors/selectors.ts'
import type { ConfigReader } from '../../../config/config-reader.ts'
import { admissionForbidden, type AdmissionAttributes } from '../../framework/admission-plugin.ts'

export interface LimitedResource {
  readonly group: string
  readonly plural: string
  /** Substrings of the names of limited resources. */
  readonly contains: readonly string[]
  readonly scopes: readonly Requirement[]
}

/** The entries of a ResourceQuotaConfiguration. */
export function limitedResources(file: ConfigReader): readonly LimitedResource[] {
  file.oneOf('apiVersion', ['apiserver.config.k8s.io/v1'])
  file.oneOf('kind', ['ResourceQuotaConfiguration'])
  const limited = file.objects('limitedResources').map((entry) => {
    const scopes = entry.objects('matchScopes').map((scope) => {
      const requirement: Requirement = {
        key: scope.string('scopeName'),
        operator: scope.oneOf('operator', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: scope.strings('values', []),
      }
      scope.rejectUnknownFields()
      return requirement
    })
    const found = {
      group: entry.string('apiGroup', ''),
      plural: entry.string('resource'),
      contains: entry.strings('matchContains', []),
      scopes,
    }
    entry.rejectUnknownFields()
    return found
  })
  file.rejectUnknownFields()
  return limited
}

/** Throws if the object uses a limited resource that no quota covers. */
export function checkLimited(
  limited: readonly LimitedResource[],
  attributes: AdmissionAttributes,
  quotas: readonly ResourceQuota[],
  nowMs: number,
): void {
  const { kind, object } = attributes
  const own = limited.filter(({ group, plural }) => group === kind.group && plural === kind.plural)
  if (own.length === 0 || object === undefined) return
  const used = Object.keys(quotaUsageOf(kind, object, nowMs))
  const covering = quotas.filter((quota) => matchesQuotaScopes(quota, kind, object))
  const isCovered = (name: string) => covering.some(({ status }) => Object.hasOwn(status.hard ?? {}, name))
  const uncovered = used.filter(
    (name) => own.some(({ contains }) => contains.some((part) => name.includes(part))) && !isCovered(name),
  )
  if (uncovered.length > 0)
    throw admissionForbidden(attributes, `insufficient quota to consume: ${uncovered.toSorted().join(',')}`)
  const known = new Set(
    quotas.flatMap(({ spec }) => matchingScopes(requirementsOf(spec), kind, object)).map(({ key }) => key),
  )
  const missing = matchingScopes(
    own.flatMap(({ scopes }) => scopes),
    kind,
    object,
  ).filter(({ key }) => !known.has(key))
  if (missing.length > 0)
    throw admissionForbidden(
      attributes,
      `insufficient quota to match these scopes: [${missing.map(scopeText).join(' ')}]`,
    )
}

const scopeText = ({ key, operator, values }: Requirement): string => `{${key} ${operator} [${values.join(' ')}]}`
