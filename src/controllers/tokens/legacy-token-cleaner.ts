// Legacy token cleaner: invalidates auto-generated ServiceAccount tokens that no pod mounts and that have not been used
// for a year, and deletes their Secrets a year later.
import {
  accountNameOf,
  invalidSinceLabel,
  isTokenSecret,
  lastUsedLabel,
  tokenInvalidSince,
  trackingConfigMap,
} from '../../api/core/v1/account-token-secret.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount } from '../../api/core/v1/service-account.ts'
import { namespaceOf, objectKey, type ObjectKey } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { dayOf } from '../../base/time/clock.ts'
import { defineController, type ReconcileTools } from '../runtime/controller.ts'

const dayMs = 86_400_000
const cleanUpMsDefault = 365 * dayMs

export const legacyTokenCleanerController = defineController({
  name: 'legacy-service-account-token-cleaner',
  account: 'legacy-service-account-token-cleaner',
  watches: [configMap, pod, secret, serviceAccount],
  // Runs once a day after tracking has started.
  enqueues: (kind, { key, before }) =>
    kind.kind === configMap.kind && key === trackingConfigMap && before === undefined ? [trackingConfigMap] : [],
  async reconcile(_, tools, context) {
    const { client, nowMs, settings } = tools
    const sinceDay = tools.cached(configMap, trackingConfigMap)?.data?.['since']
    const endMs = nowMs - (settings.legacyTokenCleanUpMs ?? cleanUpMsDefault)
    // Uses on the first day may not have been recorded.
    const sinceMs = sinceDay === undefined ? NaN : Date.parse(`${sinceDay}T00:00:00Z`) + dayMs
    if (!(sinceMs <= endMs)) return dayMs
    const uses = new SecretUses(tools)
    for (const object of tools.all(secret)) {
      const verdict = verdictOn(object, dayOf(endMs), uses, tools)
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
        // Changed in the meantime: it is checked again the next day.
        if (!hasReason(error, 'NotFound') && !hasReason(error, 'Conflict')) throw error
      }
    }
    return dayMs
  },
})

/** The Secrets that pods refer to. They are rarely needed, so they are collected on demand and not indexed. */
class SecretUses {
  readonly #tools: Pick<ReconcileTools, 'all'>
  #keys: Set<ObjectKey> | undefined

  constructor(tools: Pick<ReconcileTools, 'all'>) {
    this.#tools = tools
  }

  has(key: ObjectKey): boolean {
    this.#keys ??= new Set(Array.from(this.#tools.all(pod), keysOfSecrets).flat())
    return this.#keys.has(key)
  }
}

function verdictOn(
  object: Secret,
  endDay: string,
  uses: SecretUses,
  { cached }: Pick<ReconcileTools, 'cached'>,
): 'keep' | 'invalid' | 'delete' {
  const { name, creationTimestamp, labels = {} } = object.metadata
  if (!isTokenSecret(object)) return 'keep'
  const account = cached(serviceAccount, objectKey(namespaceOf(object), accountNameOf(object)))
  const isMadeByItself = account?.secrets?.some((reference) => reference.name === name) ?? false
  if (!isMadeByItself || uses.has(objectKey(namespaceOf(object), name))) return 'keep'
  if (creationTimestamp.slice(0, endDay.length) >= endDay || (labels[lastUsedLabel] ?? '') >= endDay) return 'keep'
  const invalidSince = tokenInvalidSince(object)
  if (invalidSince === undefined || !/^\d{4}-\d\d-\d\d$/.test(invalidSince)) return 'invalid'
  return invalidSince < endDay ? 'delete' : 'keep'
}

const keysOfSecrets = (user: Pod): ObjectKey[] => secretsOf(user).map((name) => objectKey(namespaceOf(user), name))

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
