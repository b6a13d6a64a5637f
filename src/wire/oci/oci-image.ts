// OCI images built from files: layers, configuration and manifest, each identified by its digest. A registry serves the
// blobs; `imageArchive` is the whole image as one tar file that a runtime can import.
import { tar, type TarEntry } from './tar.ts'

export interface ImageDescription {
  readonly architecture: string
  readonly files: readonly TarEntry[]
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: readonly string[]
  readonly user?: string
  readonly workingDirectory?: string
}

export interface Blob {
  readonly mediaType: string
  readonly digest: string
  readonly bytes: Uint8Array
}

export interface BuiltImage {
  readonly manifest: Blob
  /** Configuration and layers. */
  readonly blobs: readonly Blob[]
}

/** The SHA-256 of bytes in hexadecimal. */
export type Sha256 = (bytes: Uint8Array) => string

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const

export function buildImage(description: ImageDescription, sha256: Sha256): BuiltImage {
  const blob = (mediaType: string, bytes: Uint8Array): Blob => ({ mediaType, digest: `sha256:${sha256(bytes)}`, bytes })
  const layer = blob(mediaTypes.layer, tar(description.files))
  const config = blob(
    mediaTypes.config,
    json({
      architecture: description.architecture,
      os: 'linux',
      config: {
        ...(description.entrypoint === undefined ? {} : { Entrypoint: description.entrypoint }),
        ...(description.command === undefined ? {} : { Cmd: description.command }),
        ...(description.user === undefined ? {} : { User: description.user }),
        ...(description.workingDirectory === undefined ? {} : { WorkingDir: description.workingDirectory }),
        Env: description.environment ?? ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      },
      rootfs: { type: 'layers', diff_ids: [layer.digest] },
    }),
  )
  const manifest = blob(
    mediaTypes.manifest,
    json({ schemaVersion: 2, mediaType: mediaTypes.manifest, config: descriptor(config), layers: [descriptor(layer)] }),
  )
  return { manifest, blobs: [config, layer] }
}

/** The image as one archive in the OCI layout, with the name under which a runtime imports it. */
export function imageArchive({ manifest, blobs }: BuiltImage, name: string): Uint8Array {
  const index = {
    schemaVersion: 2,
    manifests: [{ ...descriptor(manifest), annotations: { 'io.containerd.image.name': name } }],
  }
  return tar([
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
    { path: 'index.json', content: json(index) },
    ...[manifest, ...blobs].map(({ digest, bytes }) => ({
      path: `blobs/${digest.replace(':', '/')}`,
      content: bytes,
    })),
  ])
}

const descriptor = ({ mediaType, digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length })

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
