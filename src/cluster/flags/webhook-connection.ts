// The connection to a webhook: server and user of its kubeconfig.
import { dirname, resolve } from 'node:path'
import { ConfigReader } from '../../apiserver/config/config-reader.ts'
import type { Files } from '../../platform/files.ts'

export interface WebhookConnection {
  readonly origin: string
  /** Path and query of the requests. */
  readonly target: string
  readonly tls: { readonly authority?: string; readonly certificate?: string; readonly key?: string }
  readonly token: string
}

export async function webhookConnection(path: string, files: Files): Promise<WebhookConnection> {
  const { parse } = await import('yaml')
  const config = new ConfigReader(parse(await readText(path, files)))
  const named = (list: string, part: string, name: string) => {
    const found = config.objects(list).find((each) => name === '' || each.string('name') === name)
    return found?.object(part)
  }
  const current = named('contexts', 'context', config.string('current-context', ''))
  const cluster = named('clusters', 'cluster', current?.string('cluster', '') ?? '')
  const user = named('users', 'user', current?.string('user', '') ?? '')
  if (cluster === undefined) throw config.error('clusters', 'must name the server')
  const { origin, protocol, pathname, search } = new URL(cluster.string('server'))
  if (protocol !== 'https:') throw cluster.error('server', 'must begin with https://')
  const content = async (reader: ConfigReader | undefined, name: string): Promise<string | undefined> => {
    const data = reader?.string(`${name}-data`, '') ?? ''
    if (data !== '') return new TextDecoder().decode(Uint8Array.fromBase64(data))
    const file = reader?.string(name, '') ?? ''
    return file === '' ? undefined : readText(resolve(dirname(path), file), files)
  }
  const authority = await content(cluster, 'certificate-authority')
  const certificate = await content(user, 'client-certificate')
  const key = await content(user, 'client-key')
  return {
    origin,
    target: pathname + search,
    tls: {
      ...(authority === undefined ? {} : { authority }),
      ...(certificate === undefined ? {} : { certificate }),
      ...(key === undefined ? {} : { key }),
    },
    token: user?.string('token', '') ?? '',
  }
}

export async function readText(path: string, files: Files): Promise<string> {
  const content = await files.read(path)
  if (content === undefined) throw new Error(`there is no file ${path}`)
  return new TextDecoder().decode(content)
}
