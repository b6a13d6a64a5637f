// coxswain image: loads and lists images of this machine's node.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ImageNode } from '../../cluster/node/local-images.ts'
import { defineCommand, UsageError, type Terminal } from '../command/command.ts'
import { clusterNameOptions, dataDirectoryOf } from '../options/data-directory-option.ts'

const actions = ['load', 'list'] as const
/** Maximum number of archives per call. */
const archivesMax = 100
const unixScheme = 'unix://'

export const image = defineCommand({
  name: 'image',
  summary: 'loads image archives into the node of this machine, or lists its images',
  operands: 'load <archive>… | list',
  operandValues: () => ['load', 'list'],
  operandsMax: 1 + archivesMax,
  options: {
    ...clusterNameOptions,
    'container-runtime-endpoint': {
      type: 'string',
      value: '<unix socket>',
      help: 'the containerd of a kubelet that was started with this flag (the one below the data directory)',
    },
  },
  async run({ operands: [action, ...archives], options }, terminal) {
    const chosen = actions.find((name) => name === action)
    if (chosen === undefined) throw new UsageError(`name what to do: ${actions.join(' or ')}`)
    const endpoint = options['container-runtime-endpoint']
    const node =
      endpoint === undefined
        ? { dataDirectory: dataDirectoryOf(options, terminal.environment) }
        : { socketPath: endpoint.replace(unixScheme, '') }
    if (chosen === 'load') return load(node, archives, terminal)
    if (archives.length > 0) throw new UsageError(`list takes no ${JSON.stringify(archives[0])}`)
    return list(node, terminal)
  },
})

async function load(node: ImageNode, archives: readonly string[], { out, signal }: Terminal): Promise<number> {
  if (archives.length === 0)
    throw new UsageError('name the archives, as docker save writes them; - reads one from stdin')
  const missing = archives.find((file) => file !== '-' && !existsSync(file))
  if (missing !== undefined) throw new UsageError(`there is no file ${missing}`)
  // The import tool is another process, which opens our standard input by its path in /proc.
  const files = archives.map((file) => (file === '-' ? `/proc/${process.pid}/fd/0` : resolve(file)))
  const report = (name: string) => {
    out(`loaded ${name}\n`)
    if (name.endsWith(':latest'))
      out('  pods pull :latest from a registry unless they have imagePullPolicy: IfNotPresent or Never\n')
  }
  const { loadImages } = await localImages()
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
