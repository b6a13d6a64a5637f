// ServiceAccount tokens in Secrets: adds the token to Secrets of that type, and deletes them with their account.
import { accountNameOf, accountUidAnnotation, isTokenSecret } from '../../api/core/v1/account-token-secret.ts'
import { configMap } from '../../api/core/v1/config-map.ts'
import { firstRootCertificate } from '../../api/core/v1/root-certificate.ts'
import { accountNameAnnotation } from '../../api/core/v1/secret-rules.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { serviceAccount, type ServiceAccount } from '../../api/core/v1/service-account.ts'
import { isBeingDeleted, keyOf, namespaceOf, objectKey, splitKey } from '../../api/meta/object.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import { base64Text } from '../../pki/pem.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import { defineController, managerAccount, type ObjectIndex } from '../runtime/controller.ts'
import type { ControllerSettings } from '../runtime/controller-settings.ts'

/** The prefix of keys for deleted Secrets. */
const gonePrefix = 'gone:'

const secretsByAccount: ObjectIndex<Secret> = {
  kind: secret,
  name: 'service-account',
  valuesOf: (object) => (isTokenSecret(object) ? [accountKeyOf(object)] : []),
}

const accountKeyOf = (object: Secret): string => objectKey(namespaceOf(object), accountNameOf(object))

export const serviceAccountTokenController = defineController({
  name: 'service-account-token',
  account: managerAccount,
  component: 'serviceaccount-token-controller',
  watches: [secret, serviceAccount, configMap],
  indexes: [secretsByAccount as unknown as ObjectIndex],
  enqueues(kind, { key, now, before }, { byIndex, all }) {
    if (kind.kind === serviceAccount.kind) return byIndex(secretsByAccount, key).map(keyOf)
    if (kind.kind === configMap.kind)
      return key === firstRootCertificate ? [...all(secret)].filter(isTokenSecret).map(keyOf) : []
    const object = (now ?? before) as Secret
    if (!isTokenSecret(object)) return []
    return [now === undefined ? `${gonePrefix}${accountKeyOf(object)} ${object.metadata.name}` : key]
  },
  async reconcile(key, { client, cached, settings }, context) {
    if (key.startsWith(gonePrefix)) {
      await dropReference(key.slice(gonePrefix.length), client, context)
      return undefined
    }
    const object = cached(secret, key)
    if (object === undefined || !isTokenSecret(object) || isBeingDeleted(object)) return undefined
    const account = await accountOf(object)
    const secrets = client.of(secret)
    try {
      if (account === undefined) {
        const { uid, resourceVersion } = object.metadata
        await secrets.delete(object.metadata.name, namespaceOf(object), { uid, resourceVersion }, context)
      } else {
        const next = filled(object, account, settings)
        if (next !== undefined) await secrets.update(next, context)
      }
    } catch (error) {
      if (!hasReason(error, 'NotFound')) throw error
    }
    return undefined

    /** The account of the Secret. If it is not cached the API server is queried, because the Secret would be deleted. */
    async function accountOf(stored: Secret): Promise<ServiceAccount | undefined> {
      const { namespace, name } = splitKey(accountKeyOf(stored))
      const known = cached(serviceAccount, accountKeyOf(stored))
      if (known !== undefined && isOf(stored, known)) return known
      const live = await client.of(serviceAccount).find(name, namespace, context)
      return live !== undefined && isOf(stored, live) ? live : undefined
    }
  },
})

/** Removes the reference to a deleted Secret from its account: `namespace/account secret`. */
async function dropReference(gone: string, client: Client, context: Context): Promise<void> {
  const [accountKey = '', secretName] = gone.split(' ')
  const { namespace, name } = splitKey(accountKey)
  const accounts = client.of(serviceAccount)
  const account = await accounts.find(name, namespace, context)
  if (account?.secrets?.some((reference) => reference.name === secretName) !== true) return
  const secrets = account.secrets.filter((reference) => reference.name !== secretName)
  await accounts.update({ ...account, secrets }, context)
}

/** A Secret without a uid belongs to any account of that name. */
const isOf = ({ metadata }: Secret, account: ServiceAccount): boolean => {
  const uid = metadata.annotations?.[accountUidAnnotation] ?? ''
  return uid === '' || uid === account.metadata.uid
}

/** The completed Secret; undefined if it is complete, or no issuer is configured. */
export function filled(
  object: Secret,
  account: ServiceAccount,
  { certificateAuthority, legacyTokens }: Pick<ControllerSettings, 'certificateAuthority' | 'legacyTokens'>,
): Secret | undefined {
  if (legacyTokens === undefined) return undefined
  const { metadata, data = {} } = object
  const { name, uid } = account.metadata
  const namespace = namespaceOf(object)
  const issue = () => base64Text(legacyTokens.issue({ namespace, account: { name, uid }, secret: metadata.name }))
  const whole = {
    ...data,
    ...(certificateAuthority === undefined ? {} : { 'ca.crt': base64Text(certificateAuthority()) }),
    namespace: (data['namespace'] ?? '') === '' ? base64Text(namespace) : (data['namespace'] ?? ''),
    token: (data['token'] ?? '') === '' ? issue() : (data['token'] ?? ''),
  }
  const annotations = { ...metadata.annotations, [accountNameAnnotation]: name, [accountUidAnnotation]: uid }
  if (equalValues(whole, data) && equalValues(annotations, metadata.annotations)) return undefined
  return { ...object, metadata: { ...metadata, annotations }, data: whole }
}
