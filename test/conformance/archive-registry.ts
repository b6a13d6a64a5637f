// Serves the images of an archive as a registry does, because some specs require a pull.
import { closeSync, createReadStream, mkdirSync, openSync, readSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

interface Place {
  readonly offset: number
  readonly size: number
}

const blockBytes = 512

export class ArchiveRegistry implements AsyncDisposable {
  readonly #file: string
  readonly #places: ReadonlyMap<string, Place>
  /** The digest of each image, by name. */
  readonly #digests: ReadonlyMap<string, string>
  #address = '127.0.0.1'
  readonly #server = createServer((request, response) => this.#respond(request, response))

  constructor(file: string) {
    this.#file = file
    this.#places = tarPlaces(file)
    const index = JSON.parse(this.#read('index.json')) as {
      readonly manifests: readonly { readonly digest: string; readonly annotations: Readonly<Record<string, string>> }[]
    }
    this.#digests = new Map(
      index.manifests.map(({ digest, annotations }) => [annotations['io.containerd.image.name'] ?? '', digest]),
    )
  }

  /** Listens on all addresses; clients use this one, which may be assigned later. */
  async listen(address: string): Promise<void> {
    this.#server.listen(0)
    await once(this.#server, 'listening')
    this.#address = address
  }

  get url(): string {
    return `http://${this.#address}:${(this.#server.address() as AddressInfo).port}`
  }

  /** Writes the `hosts.toml` files that direct a containerd to this registry. */
  configure(folder: string): void {
    const hosts = new Set([...this.#digests.keys()].map((name) => name.split('/')[0] ?? ''))
    for (const host of hosts) {
      mkdirSync(join(folder, host), { recursive: true })
      const text = `server = "${this.url}"\n\n[host."${this.url}"]\n  capabilities = ["pull", "resolve"]\n`
      writeFileSync(join(folder, host, 'hosts.toml'), text)
    }
  }

  #respond({ method, url = '/' }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, this.url)
    if (pathname === '/v2/') return void response.end('{}')
    const [, name, kind, reference = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? []
    const digest = this.#digests.get(`${searchParams.get('ns')}/${name}:${reference}`) ?? reference
    const place = this.#places.get(`blobs/${digest.replace(':', '/')}`)
    if (place === undefined) return void response.writeHead(404).end('{"errors":[{"code":"NOT_FOUND"}]}')
    const type = kind === 'manifests' ? 'application/vnd.oci.image.manifest.v1+json' : 'application/octet-stream'
    response.writeHead(200, {
      'content-type': type,
      'content-length': place.size,
      'docker-content-digest': digest,
    })
    if (method === 'HEAD') return void response.end()
    const { offset, size } = place
    createReadStream(this.#file, { start: offset, end: offset + size - 1 }).pipe(response)
  }

  #read(path: string): string {
    const place = this.#places.get(path)
    if (place === undefined) throw new Error(`${this.#file} has no ${path}`)
    const bytes = Buffer.alloc(place.size)
    const file = openSync(this.#file, 'r')
    readSync(file, bytes, 0, place.size, place.offset)
    closeSync(file)
    return bytes.toString()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Where each file of a tar begins, and its size. */
function tarPlaces(name: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  const file = openSync(name, 'r')
  const header = Buffer.alloc(blockBytes)
  for (let offset = 0; readSync(file, header, 0, blockBytes, offset) === blockBytes && header[0] !== 0;) {
    const text = (start: number, end: number) => header.toString('latin1', start, end).split('\0')[0] ?? ''
    const size = Number.parseInt(text(124, 136), 8)
    places.set(text(0, 100).replace(/^\.\//, ''), { offset: offset + blockBytes, size })
    offset += blockBytes + Math.ceil(size / blockBytes) * blockBytes
  }
  closeSync(file)
  return places
}
