// Legacy token cleaner: tokens that were made by themselves for ServiceAccounts, are mounted nowhere and were not used for
// a year are not taken any more; a year later their Secrets go.
import {
  accountNameOf,
  invalidSinceLabel,
  isTokenSecret,
  lastUsedLabel,
  tokenInvalidSince,
  trackingConfigMap,
} from '../../api/core/v1/account-token-secret.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod, type Pod } from '../../api/core/v1/pod.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { namespaceOf, objectKey } from '../../api/object.ts'
import { hasReason } from '../../api/status-error.ts'
import { dayOf } from '../../base/clock.ts'
import { defineController, type Grouping, type ReconcileTools } from '../controller.ts'

const dayMs = 86_400_000
const cleanUpMsDefault = 365 * dayMs

const podsBySecret: Grouping<Pod> = {
  kind: pod,
  name: 'secret',
  groupsOf: (object) => secretsOf(object).map((name) => objectKey(namespaceOf(object), name)),
}

export const legacyTokenCleanerController = defineController({
  name: 'legacy-service-account-token-cleaner',
  account: 'legacy-service-account-token-cleaner',
  watches: [configMap, pod, secret, serviceAccount],
  groupings: [podsBySecret as unknown as Grouping],
  // One look a day, from the day on which tracking began.
  wakes: (kind, { key, before }) =>
    kind.kind === configMap.kind && key === trackingConfigMap && before === undefined ? [trackingConfigMap] : [],
  async reconcile(_, tools, context) {
    const { client, nowMs, settings } = tools
    const sinceDay = tools.cached(configMap, trackingConfigMap)?.data?.['since']
    const endMs = nowMs - (settings.legacyTokenCleanUpMs ?? cleanUpMsDefault)
    // What was used on the first day may not have been noted.
    const sinceMs = sinceDay === undefined ? NaN : Date.parse(`${sinceDay}T00:00:00Z`) + dayMs
    if (!(sinceMs <= endMs)) return dayMs
    for (const object of tools.all(secret)) {
      const verdict = verdictOn(object, dayOf(endMs), tools)
      const { name, uid, resourceVersion } = object.metadata
      const labels = { [invalidSinceLabel]: dayOf(nowMs) }
      try {
        if (verdict === 'invalid')
          await client
            .of(secret)
            .patch(name, namespaceOf(object), { metadata: { uid, resourceVersion, labels } }, 'merge', context)
        if (verdict === 'delete')
          await client.of(secret).delete(name, namespaceOf(object), { uid, resourceVersion }, context)
      } catch (error) {
        // Somebody changed it meanwhile: tomorrow is early enough.
        if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
      }
    }
    return dayMs
  },
})

function verdictOn(
  object: Secret,
  endDay: string,
  { cached, members }: Pick<ReconcileTools, 'cached' | 'members'>,
): 'keep' | 'invalid' | 'delete' {
  const { name, creationTimestamp, labels = {} } = object.metadata
  if (!isTokenSecret(object)) return 'keep'
  const account = cached(serviceAccount, objectKey(namespaceOf(object), accountNameOf(object)))
  const isMadeByItself = account?.secrets?.some((reference) => reference.name === name) ?? false
  if (!isMadeByItself || members(podsBySecret, objectKey(namespaceOf(object), name)).length > 0) return 'keep'
  if (creationTimestamp.slice(0, endDay.length) >= endDay || (labels[lastUsedLabel] ?? '') >= endDay) return 'keep'
  const invalidSince = tokenInvalidSince(object)
  if (invalidSince === undefined || !/^\d{4}-\d\d-\d\d$/.test(invalidSince)) return 'invalid'
  return invalidSince < endDay ? 'delete' : 'keep'
}

function secretsOf({ spec }: Pod): string[] {
  const volumes = (spec.volumes ?? []).flatMap(({ secret: mounted, projected }) => [
    mounted?.secretName,
    ...(projected?.sources ?? []).map((source) => source.secret?.name),
  ])
  const variables = [...(spec.initContainers ?? []), ...spec.containers].flatMap(({ env = [], envFrom = [] }) => [
    ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ...envFrom.map(({ secretRef }) => secretRef?.name),
  ])
  const pulls = (spec.imagePullSecrets ?? []).map(({ name }) => name)
  return [...volumes, ...variables, ...pulls].filter((name = '') => name !== '') as string[]
}
