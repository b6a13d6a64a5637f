// The environment of a container, in this order: service variables, envFrom, env. Later values win, and values may
// refer to earlier ones.
import { lookup } from '../../base/collections/lookup.ts'
import { configMap, type ConfigMap } from '../../api/core/v1/config-map.ts'
import type { Container } from '../../api/core/v1/container/container.ts'
import type { EnvFromSource, EnvVar, EnvVarSource } from '../../api/core/v1/container/env-var.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import type { Service } from '../../api/core/v1/service/service.ts'
import { ConfigError } from './config-error.ts'
import { expandVariables } from './variable-expansion.ts'
import { fieldValue, resourceValue, type NodeInfo } from './field-values.ts'
import { serviceVariables } from './service-variables.ts'

/** The sources of variables. Objects are those of the pod's namespace, by name. */
export interface EnvironmentSources {
  readonly pod: Pod
  readonly podIps: readonly string[]
  readonly node: NodeInfo
  readonly configMaps: ReadonlyMap<string, ConfigMap>
  readonly secrets: ReadonlyMap<string, Secret>
  /** Services of the pod's namespace, and `kubernetes` of the default one. */
  readonly services: readonly Service[]
}

type OwnContainer = Pick<Container, 'name' | 'env' | 'envFrom' | 'resources'>

/** Throws ConfigError when a required object or key is missing. */
export function environmentOf(
  container: OwnContainer,
  sources: EnvironmentSources,
): readonly { readonly name: string; readonly value: string }[] {
  const { pod, services } = sources
  if (services.length === 0 && container.env === undefined && container.envFrom === undefined) return []
  const offered = serviceVariables(services, pod)
  const variables = new Map<string, string>()
  for (const source of container.envFrom ?? [])
    for (const [name, value] of wholeSource(source, sources)) variables.set(`${source.prefix ?? ''}${name}`, value)
  for (const variable of container.env ?? []) {
    const value = valueOf(variable, container, sources, new Map([...offered, ...variables]))
    if (value !== undefined) variables.set(variable.name, value)
  }
  for (const [name, value] of offered) if (!variables.has(name)) variables.set(name, value)
  return [...variables].map(([name, value]) => ({ name, value }))
}

/** Names of the ConfigMaps and Secrets that the containers' variables refer to. */
export function referencesOf(containers: readonly OwnContainer[]): { configMaps: Set<string>; secrets: Set<string> } {
  const configMaps = new Set<string>()
  const secrets = new Set<string>()
  const note = (set: Set<string>, name: string | undefined) => name !== undefined && set.add(name)
  for (const { env = [], envFrom = [] } of containers) {
    for (const { valueFrom } of env) {
      note(configMaps, valueFrom?.configMapKeyRef?.name)
      note(secrets, valueFrom?.secretKeyRef?.name)
    }
    for (const { configMapRef, secretRef } of envFrom) {
      note(configMaps, configMapRef?.name)
      note(secrets, secretRef?.name)
    }
  }
  return { configMaps, secrets }
}

function valueOf(
  { value, valueFrom }: EnvVar,
  container: OwnContainer,
  sources: EnvironmentSources,
  known: ReadonlyMap<string, string>,
): string | undefined {
  if (valueFrom === undefined) return expandVariables(value ?? '', known)
  const { pod, podIps, node } = sources
  const { fieldRef, resourceFieldRef } = valueFrom
  if (fieldRef !== undefined) return fieldValue(pod, fieldRef.fieldPath, podIps, node)
  if (resourceFieldRef !== undefined) return resourceValue(pod, resourceFieldRef, container.name, node)
  return keyValue(valueFrom, sources)
}

function keyValue(
  { configMapKeyRef, secretKeyRef, fileKeyRef }: EnvVarSource,
  { pod, configMaps, secrets }: EnvironmentSources,
): string | undefined {
  if (fileKeyRef !== undefined) throw new ConfigError('variables from files are not supported')
  const reference = configMapKeyRef ?? secretKeyRef
  if (reference === undefined) return undefined
  const { name = '', key, optional = false } = reference
  const [kind, data] =
    configMapKeyRef === undefined
      ? ([secret, texts(secrets.get(name))] as const)
      : ([configMap, configMaps.get(name) && (configMaps.get(name)?.data ?? {})] as const)
  const found = lookup(data, key)
  if (found !== undefined || optional) return found
  if (data === undefined) throw new ConfigError(`${kind.singular} ${JSON.stringify(name)} not found`)
  throw new ConfigError(`couldn't find key ${key} in ${kind.kind} ${pod.metadata.namespace ?? ''}/${name}`)
}

function wholeSource(
  { configMapRef, secretRef }: EnvFromSource,
  { configMaps, secrets }: EnvironmentSources,
): [string, string][] {
  const reference = configMapRef ?? secretRef
  if (reference === undefined) return []
  const { name = '', optional = false } = reference
  const [kind, data] =
    configMapRef === undefined
      ? ([secret, texts(secrets.get(name))] as const)
      : ([configMap, configMaps.get(name) && (configMaps.get(name)?.data ?? {})] as const)
  if (data !== undefined) return Object.entries(data)
  if (optional) return []
  throw new ConfigError(`${kind.singular} ${JSON.stringify(name)} not found`)
}

/** The decoded values of a Secret; undefined when it does not exist. */
const texts = (object: Secret | undefined): Record<string, string> | undefined =>
  object &&
  Object.fromEntries(
    Object.entries(object.data ?? {}).map(([key, value]) => [
      key,
      new TextDecoder().decode(Uint8Array.fromBase64(value)),
    ]),
  )
