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
import { expandVariables, ProgramSize } from './variable-expansion.ts'
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

/** Throws ConfigError when a required object or key is missing, or when the values are too large. */
export function environmentOf(
  container: OwnContainer,
  sources: EnvironmentSources,
): readonly { readonly name: string; readonly value: string }[] {
  const { pod, services } = sources
  if (services.length === 0 && container.env === undefined && container.envFrom === undefined) return []
  const size = new ProgramSize()
  const add = (variables: Map<string, string>, name: string, value: string) => {
    size.add(name.length + value.length, variableText(name))
    variables.set(name, value)
  }
  const offered = new Map<string, string>()
  for (const [name, value] of serviceVariables(services, pod)) add(offered, name, value)
  const variables = new Map<string, string>()
  const set = (name: string, value: string) => add(variables, name, value)
  const known = (name: string) => variables.get(name) ?? offered.get(name)
  for (const source of container.envFrom ?? [])
    for (const [name, value] of wholeSource(source, sources)) set(`${source.prefix ?? ''}${name}`, value)
  for (const variable of container.env ?? []) {
    const value = valueOf(variable, container, sources, known)
    if (value !== undefined) set(variable.name, value)
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

const variableText = (name: string): string => `environment variable ${JSON.stringify(name)}`

function valueOf(
  { name, value, valueFrom }: EnvVar,
  container: OwnContainer,
  sources: EnvironmentSources,
  known: (name: string) => string | undefined,
): string | undefined {
  if (valueFrom === undefined) return expandVariables(value ?? '', known, variableText(name))
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
  const [kind, data, textOf] = sourceOf(configMapKeyRef === undefined, name, configMaps, secrets)
  const value = lookup(data, key)
  const found = value === undefined ? undefined : textOf(value)
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
  const [kind, data, textOf] = sourceOf(configMapRef === undefined, name, configMaps, secrets)
  if (data !== undefined) return Object.entries(data).map(([key, value]) => [key, textOf(value)])
  if (optional) return []
  throw new ConfigError(`${kind.singular} ${JSON.stringify(name)} not found`)
}

/** The values of a ConfigMap or Secret and their decoder; no values when it does not exist. */
function sourceOf(
  isSecret: boolean,
  name: string,
  configMaps: ReadonlyMap<string, ConfigMap>,
  secrets: ReadonlyMap<string, Secret>,
) {
  const object = isSecret ? secrets.get(name) : configMaps.get(name)
  const data = object && (object.data ?? {})
  return isSecret ? ([secret, data, decoded] as const) : ([configMap, data, (value: string) => value] as const)
}

const decoded = (value: string): string => new TextDecoder().decode(Uint8Array.fromBase64(value))
