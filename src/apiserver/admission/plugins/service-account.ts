// ServiceAccount: every pod has a ServiceAccount, by default `default` of its namespace. Its containers get a volume with a
// token for the API, and the pod gets the account's image pull secrets. An account can restrict the Secrets of its pods.
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import { isInterned } from '../../../base/collections/interned-values.ts'
import { rootCertificateName } from '../../../api/core/v1/root-certificate.ts'
import type { Container } from '../../../api/core/v1/container/container.ts'
import { mirrorPodAnnotation } from '../../../api/core/v1/pod/pod-annotations.ts'
import { pod, type Pod } from '../../../api/core/v1/pod/pod.ts'
import type { PodSpec } from '../../../api/core/v1/pod-spec/pod-spec.ts'
import { serviceAccount, type ServiceAccount } from '../../../api/core/v1/service-account.ts'
import { enforcesMountableSecrets, forbiddenEphemeralSecret, forbiddenSecret } from './mountable-secrets.ts'
import { referencesSecrets } from './node-restriction/mirror-pod-references.ts'
import {
  defineAdmissionPlugin,
  admissionForbidden,
  type AdmissionAttributes,
  type AdmissionHost,
} from '../framework/admission-plugin.ts'

const defaultName = 'default'
/** The controller creates the default account shortly after a new namespace. */
const defaultAccountMsMax = 1_000
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount'
/** One hour, plus seven seconds that identify tokens of this volume. */
const tokenExpirationSeconds = 3_607
const volumePrefix = 'kube-api-access-'
const volumeMode = 0o644

export const serviceAccountAdmission = defineAdmissionPlugin({
  name: 'ServiceAccount',
  handles: { operations: ['create', 'update'], kinds: [pod], subresources: ['', 'ephemeralcontainers'] },
  admit(attributes, host) {
    const object = attributes.object as Pod
    if (attributes.operation !== 'create' || isMirror(object)) return object
    const name = object.spec.serviceAccountName ?? defaultName
    const account = host.get(serviceAccount, attributes.namespace, name)
    return account === undefined
      ? lateAccount(attributes, name, host).then((late) => withAccount(object, late, host))
      : withAccount(object, account, host)
  },
  validate(attributes, host) {
    const object = attributes.object as Pod
    if (attributes.operation === 'create' && isMirror(object)) return rejectMirrorWithSecrets(attributes, object)
    if (attributes.operation === 'create') return rejectOtherSecrets(attributes, host, forbiddenSecret)
    if (attributes.subresource === 'ephemeralcontainers')
      return rejectOtherSecrets(attributes, host, forbiddenEphemeralSecret)
  },
})

const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[mirrorPodAnnotation] !== undefined

async function lateAccount(
  attributes: AdmissionAttributes,
  name: string,
  host: AdmissionHost,
): Promise<ServiceAccount> {
  const { namespace, signal } = attributes
  const late =
    name === defaultName
      ? await host.waitForObject(serviceAccount, namespace, name, defaultAccountMsMax, signal)
      : undefined
  if (late !== undefined) return late
  throw admissionForbidden(
    attributes,
    `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  )
}

function withAccount(object: Pod, account: ServiceAccount, host: AdmissionHost): Pod {
  const { name } = account.metadata
  const pullSecrets = object.spec.imagePullSecrets ?? account.imagePullSecrets
  const spec: PodSpec = {
    ...object.spec,
    serviceAccountName: name,
    serviceAccount: name,
    ...(pullSecrets === undefined ? {} : { imagePullSecrets: pullSecrets }),
  }
  const mounts = spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true
  return { ...object, spec: mounts ? withToken(spec, () => suffixFor(object.spec, host)) : spec }
}

const lacksToken = ({ volumeMounts = [] }: Container): boolean =>
  !volumeMounts.some((mount) => mount.mountPath === mountPath)

const suffixes = new WeakMap<PodSpec, string>()

/** Pods with equal specs get equal volume names, so that their specs can still be interned. */
function suffixFor(sent: PodSpec, host: AdmissionHost): string {
  const known = suffixes.get(sent)
  if (known !== undefined) return known
  const suffix = host.nameSuffix()
  if (isInterned(sent)) suffixes.set(sent, suffix)
  return suffix
}

function withToken(spec: PodSpec, suffix: () => string): PodSpec {
  const { containers, initContainers = [], volumes = [] } = spec
  if (![...initContainers, ...containers].some(lacksToken)) return spec
  // The volume exists already if a webhook added a container after the first round.
  const own = volumes.find((volume) => volume.name.startsWith(volumePrefix))
  const name = own?.name ?? volumePrefix + suffix()
  const mounted = <C extends Container>(container: C): C =>
    lacksToken(container)
      ? { ...container, volumeMounts: [...(container.volumeMounts ?? []), { name, readOnly: true, mountPath }] }
      : container
  return {
    ...spec,
    containers: containers.map(mounted),
    ...(initContainers.length === 0 ? {} : { initContainers: initContainers.map(mounted) }),
    volumes:
      own === undefined
        ? [...volumes, { name, projected: { defaultMode: volumeMode, sources: tokenSources } }]
        : volumes,
  }
}

const tokenSources = [
  { serviceAccountToken: { expirationSeconds: tokenExpirationSeconds, path: 'token' } },
  { configMap: { name: rootCertificateName, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
  { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
]

function rejectOtherSecrets(
  attributes: AdmissionAttributes,
  host: AdmissionHost,
  forbiddenReference: (account: ServiceAccount, spec: PodSpec) => string | undefined,
): MaybePromise<void> {
  const { metadata, spec } = attributes.object as Pod
  const { namespace } = attributes
  const name = spec.serviceAccountName ?? ''
  if (name === '')
    throw admissionForbidden(attributes, `no service account specified for pod ${namespace}/${metadata.name}`)
  return thenMaybe(host.get(serviceAccount, namespace, name) ?? lateAccount(attributes, name, host), (account) => {
    const detail = enforcesMountableSecrets(account) ? forbiddenReference(account, spec) : undefined
    if (detail !== undefined) throw admissionForbidden(attributes, detail)
  })
}

/** A mirror pod represents a pod that runs without the API server, so it must not depend on API objects. */
function rejectMirrorWithSecrets(attributes: AdmissionAttributes, { spec }: Pod): void {
  if (spec.serviceAccountName !== undefined)
    throw admissionForbidden(attributes, 'a mirror pod may not reference service accounts')
  if (referencesSecrets(spec)) throw admissionForbidden(attributes, 'a mirror pod may not reference secrets')
  for (const { projected } of spec.volumes ?? [])
    if (projected?.sources?.some(({ serviceAccountToken }) => serviceAccountToken !== undefined))
      throw admissionForbidden(attributes, 'a mirror pod may not use ServiceAccountToken volume projections')
}
