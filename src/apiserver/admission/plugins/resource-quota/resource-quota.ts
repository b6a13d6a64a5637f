// ResourceQuota: limits the usage of a namespace. The usage of an object is added to its quotas in the commit that writes
// the object, so neither concurrent writers nor failed writes make it wrong.
import { lookup } from '../../../../base/collections/lookup.ts'
import type { Kind } from '../../../../api/kind/kind.ts'
import { persistentVolumeClaim } from '../../../../api/core/v1/volume/persistent-volume-claim.ts'
import { pod, type Pod } from '../../../../api/core/v1/pod/pod.ts'
import { matchesQuotaScopes } from '../../../../api/core/v1/quota/quota-scopes.ts'
import {
  usageIncrease,
  exceeds,
  pickAmounts,
  addAmounts,
  quotaUsageOf,
  type QuotaAmounts,
} from '../../../../api/core/v1/quota/quota-usage.ts'
import { resourceQuota, type ResourceQuota } from '../../../../api/core/v1/quota/resource-quota.ts'
import { service } from '../../../../api/core/v1/service/service.ts'
import { checkLimited, type LimitedResource } from './limited-resources.ts'
import {
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
  type AdmissionPlugin,
} from '../../framework/admission-plugin.ts'
import type { Reservation } from '../../framework/reservation.ts'

/** `limited`: resources that can be used only if a quota covers them. */
export const resourceQuotaAdmission = (limited: readonly LimitedResource[] = []): AdmissionPlugin => ({
  name: 'ResourceQuota',
  handles: { operations: ['create', 'update'], subresources: ['', 'resize'] },
  reserve(attributes, host) {
    if (!isCharged(attributes)) return undefined
    const cached = host.list(resourceQuota, attributes.namespace)
    if (limited.length > 0) checkLimited(limited, attributes, cached, host.nowMs())
    return cached.length === 0 ? undefined : chargeAll(attributes, cached, host)
  },
})

async function chargeAll(
  attributes: AdmissionAttributes,
  quotas: readonly ResourceQuota[],
  host: AdmissionHost,
): Promise<Reservation[]> {
  const reserved: Reservation[] = []
  for (const { metadata } of quotas) {
    const newest = await host.readFromStore(resourceQuota, attributes.namespace, metadata.name, attributes.signal)
    if (newest === undefined) continue
    const object = chargedQuota(attributes, newest.object, host.nowMs())
    if (object !== newest.object) reserved.push({ kind: resourceQuota, object, expected: newest.revision })
  }
  return reserved
}

/** Kinds whose usage an update can change. */
const growing: readonly Kind[] = [persistentVolumeClaim, service]

function isCharged({ kind, operation, subresource }: AdmissionAttributes): boolean {
  if (!kind.namespaced) return false
  if (subresource === 'resize') return kind === pod
  return operation === 'create' || growing.includes(kind)
}

/** The quota after the write; the same object if it does not count the written one. Throws if it would be exceeded. */
function chargedQuota(attributes: AdmissionAttributes, quota: ResourceQuota, nowMs: number): ResourceQuota {
  const { kind, object, old } = attributes
  const { hard = {}, used = {} } = quota.status
  const { name } = quota.metadata
  if (object === undefined || !matchesQuotaScopes(quota, kind, object)) return quota
  if (kind === pod) requireResources(attributes, name, object as Pod, hard)
  const before = old === undefined ? {} : quotaUsageOf(kind, old, nowMs)
  const requested = pickAmounts(usageIncrease(quotaUsageOf(kind, object, nowMs), before), Object.keys(hard))
  const names = Object.keys(requested).toSorted()
  if (names.length === 0) return quota
  const unknown = names.filter((each) => !Object.hasOwn(used, each))
  if (unknown.length > 0)
    throw admissionForbidden(attributes, `status unknown for quota: ${name}, resources: ${unknown.join(',')}`)
  const after = addAmounts(used, requested)
  const exceeded = names.filter((each) => exceeds(lookup(after, each) ?? '0', lookup(hard, each) ?? '0'))
  const text = (amounts: QuotaAmounts) => exceeded.map((each) => `${each}=${lookup(amounts, each)}`).join(',')
  if (exceeded.length > 0)
    throw admissionForbidden(
      attributes,
      `exceeded quota: ${name}, requested: ${text(requested)}, used: ${text(used)}, limited: ${text(hard)}`,
    )
  return { ...quota, status: { ...quota.status, used: after } }
}

/** Resources that every container must specify if a quota limits them. */
const requiredResources = ['cpu', 'limits.cpu', 'limits.memory', 'memory', 'requests.cpu', 'requests.memory']

function requireResources(attributes: AdmissionAttributes, quota: string, { spec }: Pod, hard: QuotaAmounts): void {
  if (spec.resources?.requests !== undefined || spec.resources?.limits !== undefined) return
  const containers = [...spec.containers, ...(spec.initContainers ?? [])]
  const missing = requiredResources
    .filter((name) => Object.hasOwn(hard, name))
    .flatMap((name) => {
      const field = name.startsWith('limits.') ? 'limits' : 'requests'
      const resource = name.replace(/^(requests|limits)\./, '')
      const silent = containers.filter(({ resources }) => lookup(resources[field], resource) === undefined)
      const names = [...new Set(silent.map((container) => container.name))].toSorted()
      return names.length === 0 ? [] : [`${name} for: ${names.join(',')}`]
    })
  if (missing.length > 0)
    throw admissionForbidden(attributes, `failed quota: ${quota}: must specify ${missing.join('; ')}`)
}
