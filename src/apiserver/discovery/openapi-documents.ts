// OpenAPI documents: each is built when it is read, encoded once, and tagged by its content. A change of a custom resource
// discards the documents of its group versions only.
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { RecentMap } from '../../base/collections/recent-map.ts'
import type { CustomResource } from '../kinds/custom-resource.ts'
import type { CatalogueObserver, KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { ApiResponse, ResponseOf } from '../request/response.ts'
import { noExtensionCatalogue, type ExtensionCatalogue } from './extension-catalogue.ts'
import { OpenApiV2Parts } from './openapi-v2-parts.ts'
import { openApiV3, openApiV3Names } from './openapi-v3.ts'
import { rootPath } from './served-resources.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

interface Document {
  readonly body: string | Uint8Array
  readonly contentType: string
  readonly hash: string
}

/** The media type that clients send, and the same with dots, which is a valid media type. */
const protobufTypes = [
  'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
]

/** Documents of custom groups that are kept. There can be thousands; they are built again in about a millisecond. */
const customDocumentsMax = 16

export class OpenApiDocuments implements CatalogueObserver {
  readonly #catalogue: KindCatalogue
  readonly #digest: (text: string) => string
  /** Documents of version 3 that contain no custom kinds, by name. */
  readonly #builtIn = new Map<string, Document>()
  readonly #custom = new RecentMap<string, Document>(customDocumentsMax)
  readonly #hashes = new Map<string, string>()
  readonly #extensions: ExtensionCatalogue
  readonly #v2: OpenApiV2Parts

  constructor(
    catalogue: KindCatalogue,
    digest: (text: string) => string,
    extensions: ExtensionCatalogue = noExtensionCatalogue,
  ) {
    this.#catalogue = catalogue
    this.#digest = digest
    this.#extensions = extensions
    this.#v2 = new OpenApiV2Parts(catalogue, digest, extensions)
    catalogue.observe(this)
  }

  /** The documents of an extension have changed. */
  discardExtensions(): void {
    this.#v2.deleteExtensions()
  }

  changed(removed: CustomResource | undefined, added: CustomResource | undefined): void {
    for (const { kind } of [...(removed?.versions ?? []), ...(added?.versions ?? [])]) {
      const name = rootPath(kind).slice(1)
      this.#builtIn.delete(name)
      this.#custom.delete(name)
      this.#hashes.delete(name)
      this.#v2.delete(kind)
    }
  }

  /**
   * Handles `/openapi/…`; undefined where there is no such path. `parts` are the segments after `openapi`. `hash` is that
   * of the document that the client requests: the document never changes, and another hash is redirected to the current one.
   */
  handle(parts: readonly string[], accept: string, hash: string, nowMs: number): MaybePromise<ApiResponse | undefined> {
    if (parts[0] === 'v2' && parts.length === 1) return this.#v2Response(accept)
    if (parts[0] !== 'v3') return undefined
    if (parts.length === 1) return thenMaybe(this.#index(), documentResponse)
    const name = parts.slice(1).join('/')
    const document = this.#v3(name)
    if (document === undefined) return unknownDocument
    if (hash === '') return documentResponse(document)
    return document.hash === hash
      ? { ...documentResponse(document), cacheControl: 'public, immutable', expiresMs: nowMs + yearMs }
      : { kind: 'redirect', location: documentUrl(name, document.hash), tag: `"${document.hash}"` }
  }

  async #v2Response(accept: string): Promise<ApiResponse> {
    const isProtobuf = protobufTypes.includes(firstType(accept))
    const { body, hash } = isProtobuf ? await this.#v2.protobuf() : await this.#v2.json()
    return documentResponse({ body, hash, contentType: isProtobuf ? (protobufTypes[0] ?? '') : 'application/json' })
  }

  #v3(name: string): Document | undefined {
    const known = this.#builtIn.get(name) ?? this.#custom.get(name)
    if (known !== undefined) return known
    const value = openApiV3(name, this.#catalogue)
    if (value === undefined) return undefined
    const document = this.#json(value)
    if (this.#isCustom(name)) this.#custom.set(name, document)
    else this.#builtIn.set(name, document)
    this.#hashes.set(name, document.hash)
    return document
  }

  #isCustom(name: string): boolean {
    const [, group = '', version = ''] = name.split('/')
    return this.#catalogue.inGroupVersion({ group, version }).some(({ custom }) => custom !== undefined)
  }

  /** Lists every document with its hash, so that clients fetch only what changed. */
  #index(): MaybePromise<Document> {
    const names = openApiV3Names(this.#catalogue)
    const missing = names.filter((name) => !this.#hashes.has(name))
    if (missing.length > 0) return this.#buildMissing(missing)
    const urls = new Map(names.map((name) => [name, documentUrl(name, this.#hashes.get(name) ?? '')]))
    for (const [name, url] of this.#extensions.openApiV3()) {
      urls.delete(name)
      if (url !== undefined) urls.set(name, url)
    }
    const paths = [...urls]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, url]) => [name, { serverRelativeURL: url }])
    return this.#json({ paths: Object.fromEntries(paths) })
  }

  /** One document for each turn of the event loop, because there can be many. */
  async #buildMissing(names: readonly string[]): Promise<Document> {
    for (const name of names) {
      this.#v3(name)
      await eventLoopTurn()
    }
    return this.#index()
  }

  #json(value: object): Document {
    const body = jsonText(value)
    return { body, contentType: 'application/json', hash: this.#digest(body) }
  }
}

/** The first media type of the Accept header, without its parameters. */
const firstType = (accept: string): string => accept.split(',')[0]?.split(';')[0]?.trim() ?? ''

/** Upstream responds without a body. */
const unknownDocument: ApiResponse = { kind: 'wire', response: { status: 404, headers: {}, body: '' } }

const yearMs = 365 * 24 * 3_600_000

const documentUrl = (name: string, hash: string): string => `/openapi/v3/${name}?hash=${hash}`

const documentResponse = ({ body, contentType, hash }: Document): ResponseOf<'document'> => ({
  kind: 'document',
  body,
  contentType,
  etag: `"${hash}"`,
})
