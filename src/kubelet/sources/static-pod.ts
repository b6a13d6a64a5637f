// Parses manifests to static pods, with the defaults and validation of the API server.
import { formatPod } from '../events/pod-events.ts'
import { mirrorPodAnnotation } from '../../api/core/v1/pod/pod-annotations.ts'
import { pod as podKind, type Pod } from '../../api/core/v1/pod/pod.ts'
import type { Manifest, ManifestSource } from '../../machine/manifests/manifest-source.ts'
import { qosClassOf } from '../../api/core/v1/pod-spec/qos.ts'
import { decode } from '../../schema/decoding/decode.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { validateFields } from '../../schema/validation/validate.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

export const hashAnnotation = 'kubernetes.io/config.hash'
export const sourceAnnotation = 'kubernetes.io/config.source'

export interface StaticPodDeps {
  readonly nodeName: string
  /** A short hash. */
  readonly digest: (text: string) => string
}

/** Throws when the manifest is not a valid Pod. */
export async function parseStaticPods(
  { name, text }: Manifest,
  source: ManifestSource['kind'],
  deps: StaticPodDeps,
): Promise<Pod[]> {
  const { parse } = await import('yaml')
  const read = parse(text, { version: '1.1', schema: 'yaml-1.1', maxAliasCount: 100 }) as unknown
  if (typeof read !== 'object' || read === null) throw new Error(`${name} does not contain an object`)
  const { kind, items } = read as { kind?: unknown; items?: unknown }
  const all = kind === 'PodList' && Array.isArray(items) ? (items as unknown[]) : [read]
  return all.map((one) => staticPod(one, name, source, deps))
}

function staticPod(
  read: unknown,
  file: string,
  source: ManifestSource['kind'],
  { nodeName, digest }: StaticPodDeps,
): Pod {
  const { kind = 'Pod', metadata = {}, spec = {} } = read as { kind?: string; metadata?: object; spec?: object }
  if (kind !== 'Pod') throw new Error(`${file} contains a ${kind}, not a Pod`)
  const { name = '', namespace = 'default', annotations = {} } = metadata as Partial<Pod['metadata']>
  if (name === '') throw new Error(`${file} contains a pod without a name`)
  const hash = digest(jsonText([nodeName, file, metadata, spec]))
  const { tolerations = [] } = spec as { tolerations?: object[] }
  const body = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      ...metadata,
      name: `${name}-${nodeName}`.toLowerCase(),
      namespace,
      uid: hash,
      annotations: { ...annotations, [hashAnnotation]: hash, [sourceAnnotation]: source },
    },
    // Static pods tolerate all NoExecute taints, as upstream.
    spec: { ...spec, nodeName, tolerations: [...tolerations, { operator: 'Exists', effect: 'NoExecute' }] },
    status: { phase: 'Pending' },
  }
  const decoded = decode(podKind.message, body).value as unknown as Pod
  const made = podKind.applyDefaults(withDefaults(podKind.message, decoded))
  const errors = [...validateFields(podKind.message, made), ...podKind.validate(made)]
  if (errors.length > 0)
    throw new Error(
      `pod ${formatPod(made)} in ${file}: ${errors.map(({ field, message }) => `${field}: ${message}`).join(', ')}`,
    )
  // Set here, because the API server sets it on the mirror pod and the statuses must be equal.
  return { ...made, status: { ...made.status, qosClass: qosClassOf(made.spec) } }
}

/** Whether a pod is the mirror pod of a static pod. */
export const isMirrorPod = ({ metadata }: Pod): boolean => metadata.annotations?.[mirrorPodAnnotation] !== undefined
