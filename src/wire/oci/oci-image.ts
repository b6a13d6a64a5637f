// OCI images built from files: layers, configuration and manifest, each identified by its digest. A registry serves the
// blobs; `imageArchive` is the whole image as one tar file that a runtime can import.
import { tar, type TarEntry } from './tar.ts'

export interface ImageDescription {
  readonly architecture: string
  readonly files: readonly TarEntry[]
  /** Layers below that of the files, the lowest first. */
  readonly lowerLayers?: readonly (readonly TarEntry[])[]
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly environment?: readonly string[]
  readonly user?: string
  readonly workingDirectory?: string
  /** TCP ports on which its program listens. */
  readonly ports?: readonly number[]
  /** Folders that are volumes, unless the one who runs the image mounts something there. */
  readonly volumes?: readonly string[]
}

export interface Blob {
  readonly mediaType: string
  readonly digest: string
  readonly bytes: Uint8Array
}

export interface BuiltImage {
  readonly manifest: Blob
  /** Configuration and layers, the lowest first. */
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
  const { lowerLayers = [], files, ports, volumes } = description
  const layers = [...lowerLayers, files].map((entries) => blob(mediaTypes.layer, tar(entries)))
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
        ...(ports === undefined ? {} : { ExposedPorts: keys(ports.map((port) => `${port}/tcp`)) }),
        ...(volumes === undefined ? {} : { Volumes: keys(volumes) }),
        Env: description.environment ?? ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      },
      rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    }),
  )
  const manifest = blob(
    mediaTypes.manifest,
    json({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: descriptor(config),
      layers: layers.map(descriptor),
    }),
  )
  return { manifest, blobs: [config, ...layers] }
}

/** Sets are objects with empty values in the configuration. */
const keys = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, {}]))

/** The file of a blob in an archive. */
const pathOf = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`

/**
 * The image as one archive in the OCI layout, with the name under which a runtime imports it. Older versions of Docker
 * read manifest.json instead.
 */
export function imageArchive({ manifest, blobs }: BuiltImage, name: string): Uint8Array {
  const [config, ...layers] = blobs.map(pathOf)
  const index = {
    schemaVersion: 2,
    manifests: [{ ...descriptor(manifest), annotations: { 'io.containerd.image.name': name } }],
  }
  return tar([
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
    { path: 'index.json', content: json(index) },
    { path: 'manifest.json', content: json([{ Config: config, RepoTags: [name], Layers: layers }]) },
    ...[manifest, ...blobs].map((blob) => ({ path: pathOf(blob), content: blob.bytes })),
  ])
}

const descriptor = ({ mediaType, digest, bytes }: Blob) => ({ mediaType, digest, size: bytes.length })

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
