// A small OCI registry on loopback for real pulls, with and without credentials.
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Blob, BuiltImage } from '../../src/wire/oci/oci-image.ts'

export interface Registry extends AsyncDisposable {
  /** `127.0.0.1:port`, the prefix of image names. */
  readonly host: string
  /** Serves the image as `host/name`; `secret` repositories require credentials. */
  push(name: string, image: BuiltImage): string
  /** The number of manifest requests. */
  readonly pulls: readonly string[]
}

export const registryUser = { username: 'robot', password: 'hunter2' }

export async function startRegistry(): Promise<Registry> {
  const manifests = new Map<string, Blob>()
  const blobs = new Map<string, Blob>()
  const pulls: string[] = []
  const wanted = `Basic ${btoa(`${registryUser.username}:${registryUser.password}`)}`
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    if (path === '/v2/') return void response.writeHead(200).end()
    const found = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(path)
    const [, name = '', kind, reference = ''] = found ?? []
    if (name.startsWith('secret') && request.headers.authorization !== wanted)
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end()
    const blob = kind === 'manifests' ? manifests.get(`${name}:${reference}`) : blobs.get(reference)
    if (blob === undefined) return void response.writeHead(404).end()
    if (kind === 'manifests') pulls.push(`${name}:${reference}`)
    response.writeHead(200, {
      'content-type': blob.mediaType,
      'content-length': blob.bytes.length,
      'docker-content-digest': blob.digest,
    })
    response.end(request.method === 'HEAD' ? undefined : blob.bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    host,
    pulls,
    push(name, { manifest, blobs: parts }) {
      const [repository = '', tag = 'latest'] = name.split(':')
      for (const reference of [tag, manifest.digest]) manifests.set(`${repository}:${reference}`, manifest)
      for (const part of parts) blobs.set(part.digest, part)
      return `${host}/${name}`
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
