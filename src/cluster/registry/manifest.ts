// Manifests of images, as far as a registry reads them: what they refer to.
import { digestOf, type Digest } from './image-names.ts'
import { RegistryError } from './registry-error.ts'

/** The limit that the specification asks registries to allow. */
export const manifestBytesMax = 4 << 20

export const mediaTypes = [
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
] as const
export type MediaType = (typeof mediaTypes)[number]

export interface References {
  readonly blobs: readonly Digest[]
  readonly manifests: readonly Digest[]
}

export function mediaTypeOf(text: string | undefined): MediaType {
  const found = mediaTypes.find((each) => each === text?.split(';', 1)[0]?.trim())
  if (found === undefined)
    throw invalid(
      `the media type ${JSON.stringify(text ?? '')} is not that of an image; one of: ${mediaTypes.join(', ')}`,
    )
  return found
}

interface Descriptor {
  readonly digest: string
  readonly urls?: unknown
}

/** Parses a manifest of this type. */
export function referencesOf(bytes: Uint8Array, mediaType: MediaType): References {
  const value = parsed(bytes)
  const declared = value['mediaType']
  if (declared !== undefined && declared !== mediaType)
    throw invalid(`mediaType of the manifest is ${JSON.stringify(declared)}, its Content-Type ${mediaType}`)
  if (mediaType.includes('index') || mediaType.includes('list'))
    return { blobs: [], manifests: descriptors(value, 'manifests').map(({ digest }) => digestOf(digest)) }
  const layers = descriptors(value, 'layers')
    // Layers of other hosts are not pushed.
    .filter(({ urls }) => urls === undefined)
  const all = [descriptorOf(value['config'], 'config'), ...layers]
  return { blobs: all.map(({ digest }) => digestOf(digest)), manifests: [] }
}

function parsed(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  } catch {
    // Reported below.
  }
  throw invalid('the manifest is not an object in JSON')
}

function descriptors(value: Readonly<Record<string, unknown>>, field: 'layers' | 'manifests'): readonly Descriptor[] {
  const list = value[field]
  if (!Array.isArray(list)) throw invalid(`${field} of the manifest must be a list`)
  return list.map((each, index) => descriptorOf(each, `${field}[${index}]`))
}

function descriptorOf(value: unknown, field: string): Descriptor {
  const { digest } = (value ?? {}) as { readonly digest?: unknown }
  if (typeof digest !== 'string') throw invalid(`${field} of the manifest must have a digest`)
  return value as Descriptor
}

const invalid = (message: string): RegistryError => new RegistryError(400, 'MANIFEST_INVALID', message)
