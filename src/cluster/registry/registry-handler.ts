// RegistryHandler: the OCI distribution API 1.1 over an ImageStore: pull, push (in one request, or in chunks) and lists of tags.
// Deletion and referrers are not part of it.
import type { StreamedRequest, WireResponse } from '../../platform/http/listener.ts'
import type { ImageStore } from './image-store.ts'
import { digestOf, digestText, referenceOf, repositoryOf, type Digest, type Repository } from './image-names.ts'
import { manifestBytesMax, mediaTypeOf } from './manifest.ts'
import { RegistryError } from './registry-error.ts'
import type { Upload } from './upload.ts'

export const blobBytesMax = 32 * 2 ** 30
const tagsMax = 1_000
const apiVersion = { 'docker-distribution-api-version': 'registry/2.0' }

interface Call {
  readonly request: StreamedRequest
  readonly query: URLSearchParams
}

export class RegistryHandler {
  readonly #store: ImageStore
  readonly #hosts: ReadonlySet<string>

  /** `hosts`: what a Host header may be. */
  constructor(store: ImageStore, hosts: readonly string[]) {
    this.#store = store
    this.#hosts = new Set(hosts)
  }

  async handle(request: StreamedRequest): Promise<WireResponse> {
    try {
      const { status, headers, ...rest } = await this.#handle(request)
      return { ...rest, status, headers: { ...apiVersion, ...headers } }
    } catch (error) {
      return errorResponse(error)
    }
  }

  async #handle(request: StreamedRequest): Promise<WireResponse> {
    const { headers, target } = request
    // A page of a browser could push otherwise, under a name that resolves to the loopback address, or across origins.
    if (
      !this.#hosts.has(headers['host'] ?? '') ||
      headers['origin'] !== undefined ||
      headers['sec-fetch-site'] !== undefined
    )
      throw new RegistryError(
        403,
        'DENIED',
        `this registry is only for clients of ${[...this.#hosts].join(', ')}, not for browsers`,
      )
    const url = URL.parse(target, 'http://registry')
    const call = { request, query: url?.searchParams ?? new URLSearchParams() }
    const segments = segmentsOf(url?.pathname ?? '')
    if (segments[0] !== 'v2') throw notFound()
    const [kind = '', last = ''] = segments.slice(-2)
    const name = (after: number) => repositoryOf(segments.slice(1, -after).join('/'))
    if (segments.length === 1) return { status: 200, headers: {}, body: '{}' }
    if (segments.at(-3) === 'blobs' && kind === 'uploads' && last !== '') return this.#upload(call, name(3), last)
    if (kind === 'blobs' && last === 'uploads') return this.#beginUpload(call, name(2))
    if (kind === 'blobs') return this.#blob(call, digestOf(last))
    if (kind === 'manifests') return this.#manifest(call, name(2), last)
    if (kind === 'tags' && last === 'list') return this.#tags(call, name(2))
    throw notFound()
  }

  async #blob({ request }: Call, digest: Digest): Promise<WireResponse> {
    if (!isRead(request)) throw unsupported(request)
    const size = await this.#store.blobSize(digest)
    if (size === undefined) throw new RegistryError(404, 'BLOB_UNKNOWN', `there is no blob ${digestText(digest)}`)
    const headers = {
      'content-type': 'application/octet-stream',
      'docker-content-digest': digestText(digest),
      'accept-ranges': 'bytes',
    }
    const range = rangeOf(request.headers['range'], size)
    if (range === 'unsatisfiable')
      throw new RegistryError(416, 'SIZE_INVALID', `the blob has ${size} bytes`, { 'content-range': `bytes */${size}` })
    const { first, last } = range ?? { first: 0, last: size - 1 }
    const length = last - first + 1
    const body = request.method === 'HEAD' || length === 0 ? '' : this.#store.readBlob(digest, first, last)
    return range === undefined
      ? { status: 200, headers, body, length }
      : { status: 206, headers: { ...headers, 'content-range': `bytes ${first}-${last}/${size}` }, body, length }
  }

  async #beginUpload({ request, query }: Call, repository: Repository): Promise<WireResponse> {
    if (request.method !== 'POST') throw unsupported(request)
    const mounted = query.get('mount')
    // All repositories share their blobs.
    if (mounted !== null && (await this.#store.blobSize(digestOf(mounted))) !== undefined)
      return createdBlob(repository, digestOf(mounted))
    const { id, upload } = await this.#store.beginUpload(repository)
    const digest = query.get('digest')
    if (digest === null) return accepted(repository, id, upload)
    return this.#finish(request, repository, id, upload, digest)
  }

  async #upload({ request, query }: Call, repository: Repository, id: string): Promise<WireResponse> {
    const upload = this.#store.upload(id, repository)
    switch (request.method) {
      case 'GET':
        return { ...accepted(repository, id, upload), status: 204 }
      case 'PATCH':
        checkRange(request, upload)
        await this.#store.append(upload, request.bodyPieces(blobBytesMax))
        return accepted(repository, id, upload)
      case 'PUT': {
        const digest = query.get('digest')
        if (digest === null) throw new RegistryError(400, 'DIGEST_INVALID', 'the parameter digest is missing')
        checkRange(request, upload)
        return this.#finish(request, repository, id, upload, digest)
      }
      case 'DELETE':
        await this.#store.dropUpload(id)
        return { status: 204, headers: {}, body: '' }
      default:
        throw unsupported(request)
    }
  }

  /** With the rest of the blob, or all of it, in this request. */
  async #finish(
    request: StreamedRequest,
    repository: Repository,
    id: string,
    upload: Upload,
    text: string,
  ): Promise<WireResponse> {
    const digest = digestOf(text)
    if (request.bodyBytes !== 0) await this.#store.append(upload, request.bodyPieces(blobBytesMax))
    await this.#store.finishUpload(id, upload, digest)
    return createdBlob(repository, digest)
  }

  async #manifest({ request }: Call, repository: Repository, text: string): Promise<WireResponse> {
    const reference = referenceOf(text)
    if (request.method === 'PUT') {
      const mediaType = mediaTypeOf(request.headers['content-type'])
      const bytes = await request.body(manifestBytesMax)
      const digest = digestText(await this.#store.putManifest(repository, reference, mediaType, bytes))
      const headers = { location: `/v2/${repository}/manifests/${digest}`, 'docker-content-digest': digest }
      return { status: 201, headers, body: '' }
    }
    if (!isRead(request)) throw unsupported(request)
    const found = await this.#store.manifest(repository, reference)
    if (found === undefined) throw new RegistryError(404, 'MANIFEST_UNKNOWN', `${repository} has no manifest ${text}`)
    const { digest, mediaType, bytes } = found
    const headers = { 'content-type': mediaType, 'docker-content-digest': digestText(digest) }
    return { status: 200, headers, body: request.method === 'HEAD' ? '' : bytes, length: bytes.length }
  }

  async #tags({ request, query }: Call, repository: Repository): Promise<WireResponse> {
    if (!isRead(request)) throw unsupported(request)
    const all = await this.#store.tags(repository)
    if (all === undefined) throw new RegistryError(404, 'NAME_UNKNOWN', `there is no repository ${repository}`)
    const last = query.get('last')
    const asked = query.get('n')
    const countMax = asked !== null && /^\d{1,4}$/.test(asked) ? Math.min(Number(asked), tagsMax) : tagsMax
    const following = last === null ? all : all.filter((tag) => tag > last)
    const tags = following.slice(0, countMax)
    const next = tags.length > 0 && tags.length < following.length
    const link = `</v2/${repository}/tags/list?n=${countMax}&last=${tags.at(-1)}>; rel="next"`
    return json(200, { name: repository, tags }, next ? { link } : {})
  }
}

const isRead = ({ method }: StreamedRequest): boolean => method === 'GET' || method === 'HEAD'

function segmentsOf(path: string): readonly string[] {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    throw new RegistryError(400, 'NAME_INVALID', 'the path is not percent-encoded')
  }
}

type Range = { readonly first: number; readonly last: number }

/** Undefined without a range, and with one of another form, which a server may ignore. */
function rangeOf(header: string | undefined, size: number): Range | 'unsatisfiable' | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{1,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' || (last !== '' && Number(last) < Number(first))) return undefined
  if (Number(first) >= size) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

/** A chunk that names its place must follow what has arrived. */
function checkRange({ headers }: StreamedRequest, upload: Upload): void {
  const range = headers['content-range']
  if (range === undefined) return
  const [, first] = /^(?:bytes )?(\d{1,15})-\d{1,15}(?:\/|$)/.exec(range) ?? []
  if (Number(first) !== upload.size)
    throw new RegistryError(416, 'BLOB_UPLOAD_INVALID', `the next byte of the upload is ${upload.size}`, {
      range: uploadedRange(upload),
    })
}

const uploadedRange = ({ size }: Upload): string => `0-${Math.max(0, size - 1)}`

const accepted = (repository: Repository, id: string, upload: Upload): WireResponse => ({
  status: 202,
  headers: {
    location: `/v2/${repository}/blobs/uploads/${id}`,
    range: uploadedRange(upload),
    'docker-upload-uuid': id,
  },
  body: '',
})

const createdBlob = (repository: Repository, digest: Digest): WireResponse => ({
  status: 201,
  headers: { location: `/v2/${repository}/blobs/${digestText(digest)}`, 'docker-content-digest': digestText(digest) },
  body: '',
})

const json = (status: number, value: object, headers: Readonly<Record<string, string>> = {}): WireResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})

const notFound = (): RegistryError => new RegistryError(404, 'UNSUPPORTED', 'there is no such endpoint')

const unsupported = ({ method }: StreamedRequest): RegistryError =>
  new RegistryError(405, 'UNSUPPORTED', `${method} is not supported here`)

/** Other errors become a 500 of the listener, except that of a full disk, which the client should show. */
function errorResponse(error: unknown): WireResponse {
  if (error instanceof RegistryError) return errors(error.status, error.code, error.message, error.headers)
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return errors(507, 'SIZE_INVALID', 'the disk is full')
  throw error
}

const errors = (status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) =>
  json(status, { errors: [{ code, message }] }, { ...apiVersion, ...headers })
