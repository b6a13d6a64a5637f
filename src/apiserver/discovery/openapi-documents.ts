// OpenAPI documents: each is built on first use, encoded once, and tagged by its content.
import type { ApiResponse } from '../request/response.ts'
import { openApiV2Protobuf } from './openapi-v2-protobuf.ts'
import { openApiV2 } from './openapi-v2.ts'
import { openApiV3, openApiV3Names } from './openapi-v3.ts'

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

export class OpenApiDocuments {
  readonly #digest: (text: string) => string
  readonly #made = new Map<string, Document>()

  constructor(digest: (text: string) => string) {
    this.#digest = digest
  }

  /** Handles `/openapi/…`; undefined where there is no such path. `parts` are the segments after `openapi`. */
  handle(parts: readonly string[], accept: string): ApiResponse | undefined {
    if (parts[0] === 'v2' && parts.length === 1) return documentResponse(this.#v2(accept))
    if (parts[0] !== 'v3') return undefined
    const document = parts.length === 1 ? this.#index() : this.#v3(parts.slice(1).join('/'))
    return document && documentResponse(document)
  }

  #v2(accept: string): Document {
    const json = this.#once('v2', () => this.#json(openApiV2()))
    if (!protobufTypes.includes(firstType(accept))) return json
    return this.#once('v2 protobuf', () => ({
      body: openApiV2Protobuf(JSON.parse(json.body as string) as object),
      contentType: protobufTypes[0] ?? '',
      hash: json.hash,
    }))
  }

  #v3(name: string): Document | undefined {
    if (!openApiV3Names.includes(name)) return undefined
    return this.#once(`v3/${name}`, () => this.#json(openApiV3(name) ?? {}))
  }

  /** Lists every document with its hash, so that clients fetch only what changed. */
  #index(): Document {
    return this.#once('v3', () =>
      this.#json({
        paths: Object.fromEntries(
          openApiV3Names.map((name) => [
            name,
            { serverRelativeURL: `/openapi/v3/${name}?hash=${this.#v3(name)?.hash ?? ''}` },
          ]),
        ),
      }),
    )
  }

  #json(value: object): Document {
    const body = JSON.stringify(value)
    return { body, contentType: 'application/json', hash: this.#digest(body) }
  }

  #once(name: string, make: () => Document): Document {
    const document = this.#made.get(name) ?? make()
    this.#made.set(name, document)
    return document
  }
}

/** The first media type of the Accept header, without its parameters. */
const firstType = (accept: string): string => accept.split(',')[0]?.split(';')[0]?.trim() ?? ''

const documentResponse = ({ body, contentType, hash }: Document): ApiResponse => ({
  kind: 'document',
  body,
  contentType,
  etag: `"${hash}"`,
})
