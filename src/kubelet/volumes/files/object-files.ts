// Files from ConfigMaps, Secrets and pod fields, for volumes with one source and for projected volumes.
import type { Context } from '../../../base/observability/context.ts'
import { configMap } from '../../../api/core/v1/config-map.ts'
import { namespaceOf } from '../../../api/meta/object.ts'
import { secret } from '../../../api/core/v1/secret.ts'
import type { DownwardAPIVolumeFile } from '../../../api/core/v1/volume/file-volume-sources.ts'
import { fieldValue, resourceValue, type NodeInfo } from '../../pod-config/field-values.ts'
import { filesOfKeys, type Files, type ObjectSource } from './key-files.ts'
import type { PodVolume, VolumeSources } from '../contract/volume-type.ts'

/** The files that a volume has of one object. */
type ObjectFiles = (
  source: ObjectSource,
  defaultMode: number,
  volume: PodVolume,
  sources: VolumeSources,
  context: Context,
) => Promise<Files>

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const configMapFiles: ObjectFiles = async (source, defaultMode, { pod }, sources, context) => {
  const found = await sources.configMap(namespaceOf(pod), source.name, context)
  const data = found && [
    ...Object.entries(found.data ?? {}).map(([key, text]) => [key, bytes(text)] as const),
    ...Object.entries(found.binaryData ?? {}).map(([key, text]) => [key, Uint8Array.fromBase64(text)] as const),
  ]
  return filesOfKeys(data && new Map(data), { ...source, defaultMode, kind: configMap.singular, word: 'config' })
}

export const secretFiles: ObjectFiles = async (source, defaultMode, { pod }, sources, context) => {
  const found = await sources.secret(namespaceOf(pod), source.name, context)
  const data =
    found && Object.entries(found.data ?? {}).map(([key, text]) => [key, Uint8Array.fromBase64(text)] as const)
  return filesOfKeys(data && new Map(data), { ...source, defaultMode, kind: secret.singular, word: 'secret' })
}

/** Volumes cannot contain pod IPs, because they are mounted before the pod has any. */
const noAddresses: readonly string[] = []

export function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  defaultMode: number,
  { pod }: PodVolume,
  node: NodeInfo,
): Files {
  return new Map(
    items.map(({ path, fieldRef, resourceFieldRef, mode }) => {
      const text =
        resourceFieldRef === undefined
          ? fieldValue(pod, fieldRef?.fieldPath ?? '', noAddresses, node)
          : resourceValue(pod, resourceFieldRef, '', node)
      return [path, { content: bytes(text), mode: mode ?? defaultMode }]
    }),
  )
}
