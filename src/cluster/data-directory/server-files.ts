// The files that all servers of a control plane have in common, below `pki/`: the authorities, the key of ServiceAccount
// tokens, and the encryption configuration.
import { nodePlatform } from '../../platform/node/platform.ts'
import { bundleFilesMax, type ServerBundle } from '../bootstrap/server-bundle.ts'
import { etcdAuthorityFiles, etcdClientPaths } from '../etcd/etcd-certificates.ts'
import { identityFiles } from './directory-contents.ts'
import { encryptionConfigFile } from '../policy/encryption-at-rest.ts'
import { readMarker } from './directory-marker.ts'

/** The files with which a server uses an etcd that is run by others. */
const etcdClientFiles = {
  authority: 'etcd/ca.crt',
  certificate: 'apiserver-etcd-client.crt',
  key: 'apiserver-etcd-client.key',
}

const serverFiles: ReadonlySet<string> = new Set([
  ...identityFiles,
  ...etcdAuthorityFiles,
  ...Object.values(etcdClientFiles),
  encryptionConfigFile,
])

/** What a machine needs to become a server beside that of this data directory. Throws where there is none. */
export async function collectServerFiles(directory: string): Promise<ServerBundle> {
  const marker = await readMarker(directory)
  if (marker?.server === undefined)
    throw new Error(
      `there is no server in ${directory}; run this on a server ("coxswain server"), or name its directory with --data-dir`,
    )
  const { server, etcd, encryptionConfig } = marker
  const pki = `${directory}/pki`
  const paths = new Map<string, string>(identityFiles.map((name) => [name, `${pki}/${name}`]))
  if (server.member !== undefined) for (const name of etcdAuthorityFiles) paths.set(name, `${pki}/${name}`)
  else
    for (const part of ['authority', 'certificate', 'key'] as const) {
      const path = etcd?.tlsPaths[part]
      if (path !== undefined) paths.set(etcdClientFiles[part], path)
    }
  if (encryptionConfig !== undefined) paths.set(encryptionConfigFile, encryptionConfig)
  const files = await Promise.all([...paths].map(async ([name, path]) => [name, await textOf(path)] as const))
  const { settings } = server
  const store =
    server.member === undefined
      ? { kind: 'external' as const, endpoints: etcd?.endpoints ?? [] }
      : { kind: 'managed' as const, endpoints: server.member.endpoints }
  return { files: Object.fromEntries(files), settings, store }
}

/** A file below `pki/`. Throws if there is none. */
export const readServerFile = (directory: string, name: string): Promise<string> => textOf(`${directory}/pki/${name}`)

/** A file below `pki/`, or undefined if there is none. */
export const findServerFile = (directory: string, name: string): Promise<string | undefined> =>
  textIn(`${directory}/pki/${name}`)

async function textOf(path: string): Promise<string> {
  const content = await textIn(path)
  if (content === undefined) throw new Error(`there is no file ${path}`)
  return content
}

async function textIn(path: string): Promise<string | undefined> {
  const content = await nodePlatform.files.read(path)
  return content && new TextDecoder().decode(content)
}

/** Writes them to the data directory of a machine that becomes a server. No other file is written. */
export async function writeServerFiles(directory: string, { files: contents }: ServerBundle): Promise<void> {
  const { files } = nodePlatform
  const entries = serverFilesIn(contents)
  await files.makeDirectory(`${directory}/pki/etcd`)
  for (const [name, content] of entries) await files.write(`${directory}/pki/${name}`, content)
}

/** Writes those that differ from what is stored. */
export async function replaceServerFiles(directory: string, contents: ServerBundle['files']): Promise<void> {
  const { files } = nodePlatform
  for (const [name, content] of serverFilesIn(contents)) {
    const path = `${directory}/pki/${name}`
    if ((await textIn(path)) !== content) await files.write(path, content)
  }
}

function serverFilesIn(contents: ServerBundle['files']): readonly (readonly [name: string, content: string])[] {
  const entries = Object.entries(contents)
  const unknown = entries.find(([name]) => !serverFiles.has(name))
  if (unknown !== undefined || entries.length > bundleFilesMax)
    throw new Error(`${JSON.stringify(unknown?.[0])} is no file of a server`)
  return entries
}

/** The paths of the client files of an etcd that is run by others, if it requires them. */
export const etcdPathsOf = (directory: string, { files }: ServerBundle) => {
  const paths = etcdClientPaths(`${directory}/pki`)
  const has = (name: string) => Object.hasOwn(files, name)
  return {
    ...(has(etcdClientFiles.authority) ? { authority: paths.authority } : {}),
    ...(has(etcdClientFiles.key) ? { certificate: paths.certificate, key: paths.key } : {}),
  }
}
