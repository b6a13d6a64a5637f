// Warnings about a pod or a pod template: fields that are deprecated, without effect or probably wrong.
import { lookup } from '../../../../base/collections/lookup.ts'
import { firstIndexes } from '../../../../base/collections/first-indexes.ts'
import { memoizeInterned } from '../../../../base/collections/interned-values.ts'
import { equalValues } from '../../../../schema/json/json-value.ts'
import { dnsLabelErrors } from '../../../validation/names.ts'
import { quantityNanos } from '../../../../schema/scalar/quantity.ts'
import type { Container } from '../container/container.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodTemplateSpec } from './pod-template-spec.ts'
import type { Volume } from '../volume/volume.ts'

const labelMoves: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}

const annotationMoves: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'seccomp.security.alpha.kubernetes.io/pod': 'non-functional in v1.27+; use the "seccompProfile" field instead',
}

const containerAnnotationMoves: Readonly<Record<string, string>> = {
  'container.seccomp.security.alpha.kubernetes.io/': 'non-functional in v1.27+; use the "seccompProfile" field instead',
  'container.apparmor.security.beta.kubernetes.io/': 'deprecated since v1.30; use the "appArmorProfile" field instead',
}

const volumeMoves: Readonly<Partial<Record<keyof Volume, string>>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
}

interface Metadata {
  readonly annotations?: Readonly<Record<string, string>>
}

/** `before` is the path before `metadata` and `spec`: empty for a pod, `spec.template.` in a template. */
export function podWarnings({ metadata, spec }: { metadata: Metadata; spec: PodSpec }, before = ''): readonly string[] {
  const [placement, content] = before === '' ? ofPodSpec(spec) : ofSpec(spec, `${before}spec`)
  const { annotations } = metadata
  if (annotations === undefined && placement.length === 0) return content
  return [...placement, ...annotationWarnings(annotations ?? {}, spec, `${before}metadata.annotations`), ...content]
}

/** The warnings before and after those of annotations. */
const ofSpec = (spec: PodSpec, path: string): readonly [readonly string[], readonly string[]] => [
  placementWarnings(spec, path),
  contentWarnings(spec, path),
]

const ofPodSpec = memoizeInterned((spec: PodSpec) => ofSpec(spec, 'spec'))

const placementWarnings = (spec: PodSpec, path: string): string[] => [
  ...Object.keys(spec.nodeSelector ?? {}).flatMap((name) =>
    lookup(labelMoves, name) === undefined ? [] : [`${path}.nodeSelector[${name}]: ${lookup(labelMoves, name)}`],
  ),
  ...affinityWarnings(spec, path),
  ...spreadWarnings(spec, path),
]

const contentWarnings = (spec: PodSpec, path: string): string[] => [
  ...(spec.volumes ?? []).flatMap((volume, index) => volumeWarnings(volume, `${path}.volumes[${index}]`)),
  ...(spec.imagePullSecrets ?? []).flatMap(({ name }, index) =>
    name ? [] : [`${path}.imagePullSecrets[${index}].name: invalid empty name ${JSON.stringify(name ?? '')}`],
  ),
  ...(spec.initContainers ?? []).flatMap((one, index) => containerWarnings(one, `${path}.initContainers[${index}]`)),
  ...spec.containers.flatMap((one, index) => containerWarnings(one, `${path}.containers[${index}]`)),
  ...(spec.terminationGracePeriodSeconds < 0
    ? [`${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
    : []),
]

interface TemplateOwner {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly template: PodTemplateSpec }
}

/** The warnings of a template, whenever it changes. */
export const templateWarnings = ({ spec: { template } }: TemplateOwner, old?: TemplateOwner): readonly string[] =>
  old !== undefined && equalValues(template, old.spec.template) ? [] : podWarnings(template, 'spec.template.')

/** The warnings of a kind whose pods are named after it: also those of its name, on creation. */
export const ownerWarnings = (object: TemplateOwner, old?: TemplateOwner): string[] => [
  ...(old === undefined ? nameWarnings(object.metadata.name) : []),
  ...templateWarnings(object, old),
]

/** A name that is not a DNS label leads to unexpected host names. */
export function nameWarnings(name: string, used = 'in Pod names and hostnames'): string[] {
  const details = dnsLabelErrors(name)
  if (details.length === 0) return []
  return [
    `metadata.name: this is used ${used}, which can result in surprising behavior; a DNS label is recommended: [${details.join(' ')}]`,
  ]
}

function affinityWarnings({ affinity }: PodSpec, path: string): string[] {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const at = `${path}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
  return terms.flatMap(({ matchExpressions = [] }, term) =>
    matchExpressions.flatMap(({ key }, index) =>
      lookup(labelMoves, key) === undefined
        ? []
        : [`${at}[${term}].matchExpressions[${index}].key: ${key} is ${lookup(labelMoves, key)}`],
    ),
  )
}

const spreadWarnings = ({ topologySpreadConstraints = [] }: PodSpec, path: string): string[] =>
  topologySpreadConstraints.flatMap(({ topologyKey, labelSelector }, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`
    return [
      ...(lookup(labelMoves, topologyKey) === undefined
        ? []
        : [`${at}.topologyKey: ${topologyKey} is ${lookup(labelMoves, topologyKey)}`]),
      ...(labelSelector === undefined ? [`${at}.labelSelector: a null labelSelector results in matching no pod`] : []),
    ]
  })

function annotationWarnings(annotations: Readonly<Record<string, string>>, spec: PodSpec, path: string): string[] {
  const containers = new Set([...spec.containers, ...(spec.initContainers ?? [])].map(({ name }) => name))
  return Object.keys(annotations).flatMap((name) => {
    const moved = lookup(annotationMoves, name)
    if (moved !== undefined) return [`${path}[${name}]: ${moved}`]
    const [prefix = '', text] = Object.entries(containerAnnotationMoves).find(([start]) => name.startsWith(start)) ?? []
    return text !== undefined && containers.has(name.slice(prefix.length)) ? [`${path}[${name}]: ${text}`] : []
  })
}

const volumeWarnings = (volume: Volume, path: string): string[] =>
  Object.entries(volumeMoves).flatMap(([name, text]) =>
    volume[name as keyof Volume] === undefined ? [] : [`${path}.${name}: ${text}`],
  )

function containerWarnings(container: Container, path: string): string[] {
  return [
    ...amountWarnings(container, path),
    ...environmentWarnings(container.env ?? [], `${path}.env`),
    ...portWarnings(container.ports ?? [], `${path}.ports`),
  ]
}

const wholeByteResources = ['memory', 'ephemeral-storage', 'storage']

const amountWarnings = ({ resources }: Container, path: string): string[] =>
  (['limits', 'requests'] as const).flatMap((list) =>
    Object.entries(resources?.[list] ?? {}).flatMap(([name, amount]) =>
      wholeByteResources.includes(name) && (quantityNanos(amount) ?? 0n) % 1_000_000_000n !== 0n
        ? [
            `${path}.resources.${list}[${name}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
          ]
        : [],
    ),
  )

/** The headers of a response have no room for more. */
const repeatedMax = 256

/** A later variable may refer to an earlier one of the same name, and then does not hide it. */
function environmentWarnings(env: NonNullable<Container['env']>, path: string): string[] {
  const warnings: string[] = []
  const names = new Set<string>()
  for (const [index, { name, value = '' }] of env.entries()) {
    if (names.has(name) && !value.includes(`$(${name})`))
      warnings.push(
        `${path}[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      )
    if (warnings.length === repeatedMax) break
    names.add(name)
  }
  return warnings
}

const portWarnings = (ports: NonNullable<Container['ports']>, path: string): string[] =>
  firstIndexes(ports, ({ containerPort, protocol, hostPort, hostIP }) =>
    JSON.stringify([containerPort, protocol, hostPort, hostIP]),
  ).flatMap((first, index) =>
    first < index ? [`${path}[${index}]: duplicate port definition with ${path}[${first}]`] : [],
  )
