// The deprecated annotation of a ServiceAccount that restricts its pods to the Secrets that the account references.
import type { Container } from '../../../api/core/v1/container/container.ts'
import type { PodSpec } from '../../../api/core/v1/pod-spec/pod-spec.ts'
import type { ServiceAccount } from '../../../api/core/v1/service-account.ts'

const annotation = 'kubernetes.io/enforce-mountable-secrets'
/** What Go parses as true. */
const trueTexts: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True'])

export const enforcesMountableSecrets = ({ metadata }: ServiceAccount): boolean =>
  trueTexts.has(metadata.annotations?.[annotation] ?? '')

/** Why a new pod is rejected: the first reference that its account does not allow. */
export function forbiddenSecret(account: ServiceAccount, spec: PodSpec): string | undefined {
  const { volumes = [], initContainers = [], containers, imagePullSecrets = [] } = spec
  const mountable = namesOf(account.secrets)
  for (const { secret } of volumes)
    if (secret !== undefined && !mountable.has(secret.secretName ?? ''))
      return `volume with ${notReferenced(secret.secretName, account)}`
  const ofContainer =
    forbiddenInContainers('init container', initContainers, account) ??
    forbiddenInContainers('container', containers, account)
  if (ofContainer !== undefined) return ofContainer
  const pullable = namesOf(account.imagePullSecrets)
  const index = imagePullSecrets.findIndex(({ name = '' }) => !pullable.has(name))
  return index < 0
    ? undefined
    : `imagePullSecrets[${index}].name="${imagePullSecrets[index]?.name ?? ''}" is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`
}

/** Why new ephemeral containers are rejected. */
export const forbiddenEphemeralSecret = (
  account: ServiceAccount,
  { ephemeralContainers = [] }: PodSpec,
): string | undefined => forbiddenInContainers('ephemeral container', ephemeralContainers, account)

function forbiddenInContainers(
  what: string,
  containers: readonly Pick<Container, 'name' | 'env' | 'envFrom'>[],
  account: ServiceAccount,
): string | undefined {
  const mountable = namesOf(account.secrets)
  for (const { name, env = [], envFrom = [] } of containers) {
    for (const { name: variable, valueFrom } of env) {
      const reference = valueFrom?.secretKeyRef
      if (reference !== undefined && !mountable.has(reference.name ?? ''))
        return `${what} ${name} with envVar ${variable} referencing ${notReferenced(reference.name, account)}`
    }
    for (const { secretRef } of envFrom)
      if (secretRef !== undefined && !mountable.has(secretRef.name ?? ''))
        return `${what} ${name} with envFrom referencing ${notReferenced(secretRef.name, account)}`
  }
  return undefined
}

const notReferenced = (secret: string | undefined, { metadata }: ServiceAccount): string =>
  `secret.secretName="${secret ?? ''}" is not allowed because service account ${metadata.name} does not reference that secret`

const namesOf = (references: readonly { readonly name?: string }[] = []): ReadonlySet<string> =>
  new Set(references.map(({ name = '' }) => name))
