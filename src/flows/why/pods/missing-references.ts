// Which Secrets, ConfigMaps and claims a container needs and are missing: as volumes, or for its environment. Values are never
// read.
import { configMap } from '../../../api/core/v1/config-map.ts'
import type { Container } from '../../../api/core/v1/container/container.ts'
import type { Pod } from '../../../api/core/v1/pod/pod.ts'
import { secret } from '../../../api/core/v1/secret.ts'
import { persistentVolumeClaim } from '../../../api/core/v1/volume/persistent-volume-claim.ts'
import type { ResourceType } from '../../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import { isMissing, type ClusterReader } from '../explainer/cluster-reader.ts'
import { problem, withFix, type Finding } from '../explainer/finding.ts'
import { kubectl, mergePatch } from '../explainer/fix-command.ts'
import { warningsOf } from './pod-warnings.ts'

interface Reference {
  readonly kind: ResourceType
  readonly name: string
  /** Keys that must be in it; empty where all are used. */
  readonly keys: readonly string[]
  /** What it is used for: `volume v`, `variable A`. */
  readonly use: string
}

export async function whyReferencesAreMissing(
  object: Pod,
  containerName: string,
  cluster: ClusterReader,
): Promise<readonly Finding[]> {
  const container = [...(object.spec.initContainers ?? []), ...object.spec.containers].find(
    ({ name }) => name === containerName,
  )
  if (container === undefined) return []
  const findings: Finding[] = []
  for (const reference of [...volumeReferences(object, container), ...variableReferences(container)]) {
    const found = await missingFinding(object, container, reference, cluster)
    if (found !== undefined && !findings.some(({ text }) => text === found.text)) findings.push(found)
  }
  return findings.length > 0 ? findings : mountFailures(object, container, cluster)
}

async function missingFinding(
  object: Pod,
  { name: container }: Container,
  { kind, name, keys, use }: Reference,
  cluster: ClusterReader,
): Promise<Finding | undefined> {
  const home = namespaceOf(object)
  const beginning = `Container ${container} cannot start, because its ${use} needs`
  const details = { covers: ['Failed', 'FailedMount'], ...withFix(createCommand(home, kind, name, keys)) }
  if (await isMissing(cluster, kind, home, name))
    return problem(`${beginning} the ${kind.kind} ${name}, which does not exist in the namespace ${home}.`, details)
  const found = await cluster.find(kind, home, name)
  const known = keysOf(found)
  const absent = found === undefined ? [] : keys.filter((key) => !known.includes(key))
  if (absent.length === 0) return undefined
  const has = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  return problem(`${beginning} the key ${absent.join(', ')} of the ${kind.kind} ${name}; ${has}.`, {
    covers: details.covers,
    fix: addKeysCommand(home, kind, name, absent),
  })
}

const keysOf = (object: ApiObject | undefined): readonly string[] => {
  const { data, binaryData } = (object ?? {}) as { data?: object; binaryData?: object }
  return [...Object.keys(data ?? {}), ...Object.keys(binaryData ?? {})]
}

function createCommand(home: string, kind: ResourceType, name: string, keys: readonly string[]): string | undefined {
  if (kind === persistentVolumeClaim) return undefined
  const values = (keys.length === 0 ? ['KEY'] : keys).map((key) => `--from-literal=${key}=VALUE`)
  const words = kind === secret ? ['secret', 'generic'] : ['configmap']
  return kubectl(home, 'create', ...words, name, ...values)
}

/** Values of Secrets are given as text. */
const addKeysCommand = (home: string, kind: ResourceType, name: string, keys: readonly string[]): string =>
  mergePatch(`${kind.singular}/${name}`, home, {
    [kind === secret ? 'stringData' : 'data']: Object.fromEntries(keys.map((key) => [key, 'VALUE'])),
  })

type Volume = NonNullable<Pod['spec']['volumes']>[number]

function volumeReferences({ spec }: Pod, container: Container): Reference[] {
  const mounted = new Set((container.volumeMounts ?? []).map(({ name }) => name))
  // A pod starts when all its volumes are mounted, also those that only other containers use.
  const volumes = (spec.volumes ?? []).toSorted((a, b) => Number(mounted.has(b.name)) - Number(mounted.has(a.name)))
  return volumes.flatMap(referencesOf)
}

function referencesOf({
  name,
  secret: own,
  configMap: config,
  projected,
  persistentVolumeClaim: claim,
}: Volume): Reference[] {
  const use = `volume ${name}`
  const keysIn = (items: readonly { readonly key: string }[] = []) => items.map(({ key }) => key)
  const sources = projected?.sources ?? []
  return [
    ...(own !== undefined && !own.optional && own.secretName !== undefined
      ? [{ kind: secret, name: own.secretName, keys: keysIn(own.items), use }]
      : []),
    ...(config !== undefined && !config.optional && config.name !== undefined
      ? [{ kind: configMap, name: config.name, keys: keysIn(config.items), use }]
      : []),
    ...(claim === undefined ? [] : [{ kind: persistentVolumeClaim, name: claim.claimName, keys: [], use }]),
    ...sources.flatMap(({ secret: part, configMap: text }) => [
      ...(part?.name === undefined || part.optional
        ? []
        : [{ kind: secret, name: part.name, keys: keysIn(part.items), use }]),
      ...(text?.name === undefined || text.optional
        ? []
        : [{ kind: configMap, name: text.name, keys: keysIn(text.items), use }]),
    ]),
  ]
}

function variableReferences({ env = [], envFrom = [] }: Container): Reference[] {
  return [
    ...env.flatMap(({ name, valueFrom }) => [
      ...keyReference(secret, valueFrom?.secretKeyRef, name),
      ...keyReference(configMap, valueFrom?.configMapKeyRef, name),
    ]),
    ...envFrom.flatMap(({ secretRef, configMapRef }) => [
      ...wholeReference(secret, secretRef),
      ...wholeReference(configMap, configMapRef),
    ]),
  ]
}

const keyReference = (
  kind: ResourceType,
  reference: { readonly name?: string; readonly key: string; readonly optional?: boolean } | undefined,
  variable: string,
): Reference[] =>
  reference?.name === undefined || reference.optional
    ? []
    : [{ kind, name: reference.name, keys: [reference.key], use: `variable ${variable}` }]

const wholeReference = (
  kind: ResourceType,
  reference: { readonly name?: string; readonly optional?: boolean } | undefined,
): Reference[] =>
  reference?.name === undefined || reference.optional
    ? []
    : [{ kind, name: reference.name, keys: [], use: 'environment' }]

/** Other reasons for which volumes are not mounted: what the newest event reports. */
async function mountFailures(object: Pod, { name }: Container, cluster: ClusterReader): Promise<Finding[]> {
  const failure = (await warningsOf(object, cluster)).find(({ reason = '' }) => mountReasons.has(reason))
  if (failure === undefined) return []
  const { reason = '', message = '' } = failure
  return [problem(`Container ${name} cannot start: ${reason}: ${message.replace(/\.$/, '')}.`, { covers: [reason] })]
}

const mountReasons = new Set(['FailedAttachVolume', 'FailedCreatePodSandBox', 'FailedMapVolume', 'FailedMount'])
