// Builds the images of the suite in one OCI archive for this machine's architecture. No registry is involved.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { architecture } from '../../containers/busybox.ts'
import { run } from '../command.ts'
import { builtBusybox } from './busybox-build.ts'
import { busyboxLayer, imageCatalog, pauseImage, registryFiles, type ImageSpec, type LayerFile } from './catalog.ts'
import { busyboxApplets, debianTree } from './debian-tree.ts'

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

interface ImageDescriptor extends Descriptor {
  readonly annotations: Readonly<Record<string, string>>
  readonly platform: { readonly architecture: string; readonly os: string }
}

interface Manifest {
  readonly schemaVersion: 2
  readonly mediaType: string
  readonly config: Descriptor
  readonly layers: readonly Descriptor[]
}

const mediaTypes = {
  config: 'application/vnd.oci.image.config.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
} as const

/** Parts of the Debian tree that no image needs. */
const excluded = ['var/cache/apt', 'var/lib/apt/lists', 'var/log', 'usr/share/doc', 'usr/share/man', 'usr/share/locale']
const excludedContents = [...excluded, 'dev', 'proc', 'sys', 'tmp'].map((path) => `--exclude=./${path}/*`)
/** The same files give the same digest. */
const reproducible = ['--sort=name', '--mtime=@0', '--numeric-owner']

/** Writes the archive; returns the names of images whose executables are missing. */
export function buildImages(executables: string, work: string, archive: string): readonly string[] {
  mkdirSync(work, { recursive: true })
  const root = debianTree(work)
  const layout = mkdtempSync(join(work, 'layout-'))
  try {
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true })
    const isComplete = ({ needs }: ImageSpec) =>
      needs.every((name) => statSync(join(executables, name), { throwIfNoEntry: false }) !== undefined)
    const busybox = builtBusybox(work)
    const bases = {
      debian: layerOf(layout, root, excludedContents),
      busybox: layerOfFiles(layout, busyboxLayer(busybox, busyboxApplets(busybox))),
    }
    const catalog = imageCatalog({
      executable: (name) => join(executables, name),
      debianText: (path) => readFileSync(join(root, path), 'utf8'),
      certificate: localhostCertificate(layout),
      registryContent: registryOf(layout, buildImage(layout, pauseImage, bases.busybox)),
    })
    const manifests = catalog.filter(isComplete).map((image) => buildImage(layout, image, bases[image.base]))
    writeJson(join(layout, 'oci-layout'), { imageLayoutVersion: '1.0.0' })
    writeJson(join(layout, 'index.json'), { schemaVersion: 2, mediaType: mediaTypes.index, manifests })
    const contents = ['oci-layout', 'index.json', 'blobs']
    run('tar', [...reproducible, '-cf', `${archive}.new`, '-C', layout, ...contents])
    renameSync(`${archive}.new`, archive)
    return catalog.filter((image) => !isComplete(image)).map(({ name }) => name)
  } finally {
    rmSync(layout, { recursive: true })
  }
}

function buildImage(layout: string, { name, layers: added, config }: ImageSpec, base: Descriptor): ImageDescriptor {
  const layers = [base, ...added.map((files) => layerOfFiles(layout, files))]
  const described = {
    created: '1970-01-01T00:00:00Z',
    architecture,
    os: 'linux',
    config: {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      WorkingDir: '/',
      // Images with equal files remain different images.
      Labels: { name },
      ...config,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
  }
  const manifest: Manifest = {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: blob(layout, mediaTypes.config, described),
    layers,
  }
  const annotations = { 'io.containerd.image.name': name }
  return { ...blob(layout, mediaTypes.manifest, manifest), annotations, platform: { architecture, os: 'linux' } }
}

/** The registry in agnhost with one image, whose manifest is described. */
function registryOf(layout: string, { digest }: Descriptor): readonly LayerFile[] {
  const read = (of: string) => ({ digest: of, content: readFileSync(blobPath(layout, of)) })
  const manifest = read(digest)
  const { config, layers } = JSON.parse(manifest.content.toString()) as Manifest
  return registryFiles(
    manifest,
    [config, ...layers].map((one) => read(one.digest)),
  )
}

function layerOfFiles(layout: string, files: readonly LayerFile[]): Descriptor {
  const folder = mkdtempSync(join(layout, 'layer-'))
  chmodSync(folder, 0o755)
  for (const file of files) place(folder, file)
  const layer = layerOf(layout, folder, ['--owner=0', '--group=0'])
  rmSync(folder, { recursive: true })
  return layer
}

function place(folder: string, { path, content, source, link, mode = 0o644 }: LayerFile): void {
  const target = join(folder, path)
  if (path.endsWith('/')) {
    mkdirSync(target, { recursive: true })
    return chmodSync(target, mode === 0o644 ? 0o755 : mode)
  }
  mkdirSync(dirname(target), { recursive: true })
  if (link !== undefined) return symlinkSync(link, target)
  if (source !== undefined) copyFileSync(source, target)
  else writeFileSync(target, content ?? '')
  chmodSync(target, mode)
}

function layerOf(layout: string, folder: string, options: readonly string[]): Descriptor {
  const file = join(layout, 'layer.tar')
  run('tar', [...reproducible, ...options, '-cf', file, '-C', folder, '.'])
  const [digest = ''] = run('sha256sum', [file]).split(' ')
  const size = statSync(file).size
  renameSync(file, blobPath(layout, digest))
  return { mediaType: mediaTypes.layer, digest: `sha256:${digest}`, size }
}

function blob(layout: string, mediaType: string, value: object): Descriptor {
  const bytes = Buffer.from(JSON.stringify(value))
  const digest = createHash('sha256').update(bytes).digest('hex')
  writeFileSync(blobPath(layout, digest), bytes)
  return { mediaType, digest: `sha256:${digest}`, size: bytes.length }
}

const blobPath = (layout: string, digest: string): string =>
  join(layout, 'blobs/sha256', digest.replace(/^sha256:/, ''))

const writeJson = (file: string, value: object): void => writeFileSync(file, JSON.stringify(value))

function localhostCertificate(folder: string): { readonly certificate: string; readonly key: string } {
  const key = join(folder, 'localhost.key')
  const certificate = join(folder, 'localhost.crt')
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const output = ['-newkey', 'rsa:2048', '-nodes', '-days', '3650', '-keyout', key, '-out', certificate]
  run('openssl', ['req', '-x509', ...output, ...subject])
  return { certificate: readFileSync(certificate, 'utf8'), key: readFileSync(key, 'utf8') }
}
