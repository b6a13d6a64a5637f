// KubeletConfiguration (kubelet.config.k8s.io/v1beta1): the supported fields, each mapped to the flag with the same
// meaning. Unsupported fields are rejected by name, so that a user does not assume that they have an effect.
import { lookup } from '../../base/collections/lookup.ts'
import { ConfigError } from '../../apiserver/config/config-reader.ts'
import { isJsonObject, type JsonValue } from '../../schema/json/json-value.ts'
import type { KubeletFlag } from './kubelet-flags.ts'
import type { KubeletProcessFlag } from './kubelet-process-flags.ts'

export type ConfiguredFlag = KubeletFlag | KubeletProcessFlag
export type ConfiguredFlagValues = Readonly<Partial<Record<ConfiguredFlag, string>>>

type Reading = (value: unknown) => string | undefined
type Field = readonly [flag: ConfiguredFlag, read: Reading]

const text: Reading = (value) => (typeof value === 'string' ? value : undefined)
const number: Reading = (value) => (typeof value === 'number' ? String(value) : undefined)
const bool: Reading = (value) => (typeof value === 'boolean' ? String(value) : undefined)
const texts: Reading = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(',') : undefined
const pairs =
  (between: string): Reading =>
  (value) =>
    isJsonObject(value)
      ? Object.entries(value)
          .map(([key, amount]) => `${key}${between}${String(amount)}`)
          .join(',')
      : undefined
const taints: Reading = (value) =>
  Array.isArray(value) && value.every(isJsonObject)
    ? value
        .map(({ key, value: taintValue = '', effect }) => `${String(key)}=${String(taintValue)}:${String(effect)}`)
        .join(',')
    : undefined

const periods: Reading = (value) =>
  Array.isArray(value) && value.every(isJsonObject)
    ? value
        .map(({ priority, shutdownGracePeriodSeconds: seconds }) => `${String(priority)}=${String(seconds)}s`)
        .join(',')
    : undefined

const fields: Readonly<Record<string, Field>> = {
  address: ['address', text],
  allowedUnsafeSysctls: ['allowed-unsafe-sysctls', texts],
  'authentication.webhook.cacheTTL': ['authentication-token-webhook-cache-ttl', text],
  'authentication.x509.clientCAFile': ['client-ca-file', text],
  'authorization.webhook.cacheAuthorizedTTL': ['authorization-webhook-cache-authorized-ttl', text],
  'authorization.webhook.cacheUnauthorizedTTL': ['authorization-webhook-cache-unauthorized-ttl', text],
  cgroupRoot: ['cgroup-root', text],
  clusterDNS: ['cluster-dns', texts],
  clusterDomain: ['cluster-domain', text],
  containerLogMaxFiles: ['container-log-max-files', number],
  containerLogMaxSize: ['container-log-max-size', text],
  containerRuntimeEndpoint: ['container-runtime-endpoint', text],
  evictionHard: ['eviction-hard', pairs('<')],
  evictionMaxPodGracePeriod: ['eviction-max-pod-grace-period', number],
  evictionMinimumReclaim: ['eviction-minimum-reclaim', pairs('=')],
  evictionPressureTransitionPeriod: ['eviction-pressure-transition-period', text],
  evictionSoft: ['eviction-soft', pairs('<')],
  evictionSoftGracePeriod: ['eviction-soft-grace-period', pairs('=')],
  healthzBindAddress: ['healthz-bind-address', text],
  healthzPort: ['healthz-port', number],
  httpCheckFrequency: ['http-check-frequency', text],
  imageGCHighThresholdPercent: ['image-gc-high-threshold', number],
  imageGCLowThresholdPercent: ['image-gc-low-threshold', number],
  imageMaximumGCAge: ['image-maximum-gc-age', text],
  imageMinimumGCAge: ['minimum-image-ttl-duration', text],
  kubeReserved: ['kube-reserved', pairs('=')],
  maxPods: ['max-pods', number],
  port: ['port', number],
  registerWithTaints: ['register-with-taints', taints],
  providerID: ['provider-id', text],
  resolvConf: ['resolv-conf', text],
  rotateCertificates: ['rotate-certificates', bool],
  serverTLSBootstrap: ['rotate-server-certificates', bool],
  shutdownGracePeriod: ['shutdown-grace-period', text],
  shutdownGracePeriodByPodPriority: ['shutdown-grace-period-by-pod-priority', periods],
  shutdownGracePeriodCriticalPods: ['shutdown-grace-period-critical-pods', text],
  staticPodPath: ['pod-manifest-path', text],
  staticPodURL: ['manifest-url', text],
  systemReserved: ['system-reserved', pairs('=')],
  tlsCertFile: ['tls-cert-file', text],
  tlsPrivateKeyFile: ['tls-private-key-file', text],
}

/** Fields whose value is fixed. */
const fixed: Readonly<Record<string, JsonValue>> = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  'authentication.anonymous.enabled': false,
  'authentication.webhook.enabled': true,
  'authorization.mode': 'Webhook',
  cgroupDriver: 'cgroupfs',
  enableServer: true,
  readOnlyPort: 0,
  registerNode: true,
}

const sections = new Set(
  [...Object.keys(fields), ...Object.keys(fixed)].flatMap((path) =>
    path
      .split('.')
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join('.')),
  ),
)

/** The flags for a parsed file. Throws with the path of an invalid field. */
export function configuredFlags(configuration: unknown): ConfiguredFlagValues {
  if (!isJsonObject(configuration)) throw new ConfigError('the configuration must be an object')
  for (const required of ['apiVersion', 'kind'])
    if (lookup(configuration, required) === undefined)
      throw new ConfigError(`${required} is required: ${String(lookup(fixed, required))}`)
  return Object.fromEntries(flagsOf(configuration, ''))
}

function flagsOf(section: Readonly<Record<string, unknown>>, prefix: string): [ConfiguredFlag, string][] {
  return Object.entries(section).flatMap(([name, value]): [ConfiguredFlag, string][] => {
    const path = prefix + name
    if (value === undefined || value === null) return []
    if (sections.has(path) && isJsonObject(value)) return flagsOf(value, `${path}.`)
    if (Object.hasOwn(fixed, path)) {
      if (value !== lookup(fixed, path))
        throw new ConfigError(`${path} must be ${JSON.stringify(lookup(fixed, path))} here`)
      return []
    }
    const [flag, read] = lookup(fields, path) ?? []
    if (flag === undefined || read === undefined) throw new ConfigError(`${path} is not a field that is supported`)
    const flagValue = read(value)
    if (flagValue === undefined) throw new ConfigError(`${path} is not of its type`)
    return [[flag, flagValue]]
  })
}
