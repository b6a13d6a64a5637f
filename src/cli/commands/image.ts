// coxswain image: loads and lists images of this machine's node.
import { statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { ImageNode } from '../../cluster/node/local-images.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'

const actions = ['load', 'list'] as const
/** Maximum number of archives and images per call. */
const sourcesMax = 100
/** Names of files, where a missing file is a mistake and not the name of an image. */
const archiveName = /^[./~]|\.(?:tar|tgz|tar\.(?:gz|zst))$/
const unixScheme = 'unix://'

export const image = defineCommand({
  name: 'image',
  summary: 'loads images of Docker or archives into the node of this machine, or lists its images',
  operands: 'load <image>|<archive>… | list',
  operandValues: () => ['load', 'list'],
  operandsMax: 1 + sourcesMax,
  options: {
    ...clusterNameOptions,
    'container-runtime-endpoint': {
      type: 'string',
      value: '<unix socket>',
      help: 'the containerd of a kubelet that was started with this flag (the one below the data directory)',
    },
  },
  async run({ operands: [action, ...sources], options }, terminal) {
    const chosen = actions.find((name) => name === action)
    if (chosen === undefined) throw new UsageError(`name what to do: ${actions.join(' or ')}`)
    const endpoint = options['container-runtime-endpoint']
    const node =
      endpoint === undefined
        ? { dataDirectory: dataDirectoryOf(options, terminal.environment) }
        : { socketPath: endpoint.replace(unixScheme, '') }
    if (chosen === 'load') return load(node, sources, terminal)
    if (sources.length > 0) throw new UsageError(`list takes no ${JSON.stringify(sources[0])}`)
    return list(node, terminal)
  },
})

async function load(node: ImageNode, sources: readonly string[], terminal: Terminal): Promise<number> {
  const { out, environment, signal } = terminal
  if (sources.length === 0)
    throw new UsageError('name images of Docker, or archives as docker save writes them; - reads one from stdin')
  const isArchive = (source: string) =>
    source === '-' || statSync(source, { throwIfNoEntry: false })?.isDirectory() === false
  const archives = sources.filter(isArchive)
  const images = sources.filter((source) => !isArchive(source))
  const { dockerDaemon, isImageReference, saveDockerImages } = await import('../../cluster/images/docker-images.ts')
  const missing = images.find((name) => archiveName.test(name) || !isImageReference(name))
  if (missing !== undefined) throw new UsageError(`there is no file ${missing}`)
  const { checkImageNode, loadImages } = await localImages()
  // Before Docker writes gigabytes for nothing.
  checkImageNode(node)
  await using cleanup = new AsyncDisposableStack()
  // The import tool is another process, which opens our standard input by its path in /proc.
  const files = archives.map((file) => (file === '-' ? `/proc/${process.pid}/fd/0` : resolve(file)))
  if (images.length > 0) {
    const folder = await mkdtemp(join(tmpdir(), 'coxswain-images-'))
    cleanup.defer(() => rm(folder, { recursive: true, force: true }))
    const saved = join(folder, 'saved.tar')
    await saveDockerImages(dockerDaemon(environment), images, saved, signal)
    files.push(saved)
  }
  const report = (name: string) => {
    out(`loaded ${name}\n`)
    if (name.endsWith(':latest'))
      out('  pods pull :latest from a registry unless they have imagePullPolicy: IfNotPresent or Never\n')
  }
  await loadImages(node, files, report, signal)
  return 0
}

async function list(node: ImageNode, { out, signal }: Terminal): Promise<number> {
  const { listImages } = await localImages()
  const rows = (await listImages(node, signal)).flatMap(({ id, tags, digests, sizeBytes }) =>
    (tags.length > 0 ? tags : digests.length > 0 ? digests : [id]).map((name) => [name, sizeText(sizeBytes)] as const),
  )
  const width = Math.max('IMAGE'.length, ...rows.map(([name]) => name.length))
  const line = (name: string, size: string) => `${name.padEnd(width)}   ${size}\n`
  out(line('IMAGE', 'SIZE'))
  for (const [name, size] of rows.toSorted(([a], [b]) => (a < b ? -1 : 1))) out(line(name, size))
  return 0
}

/** Loaded on demand, so that other commands start faster. */
const localImages = () => import('../../cluster/node/local-images.ts')

const bytesPerMegabyte = 1_000_000

const sizeText = (bytes: number): string => `${(bytes / bytesPerMegabyte).toFixed(1)}MB`
