// OpenApiV2Parts: the parts of the OpenAPI v2 document as encoded text: one of all built-in kinds, one of each group
// version with custom kinds, and one of all extensions. A read builds the parts that changed and joins all.
import { eventLoopTurn } from '../../base/async/event-loop-turn.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { GroupVersion, KindCatalogue } from '../kinds/kind-catalogue.ts'
import { joinedProtobuf, protobufPart, type ProtobufPart } from './openapi-v2-protobuf.ts'
import type { ExtensionCatalogue } from './extension-catalogue.ts'
import { mergedExtensions } from './merged-extensions.ts'
import { builtInV2Part, customV2Part, openApiV2Head, type OpenApiV2Part } from './openapi-v2.ts'
import { jsonText, parseJson } from '../../schema/json/exact-json.ts'

interface Part {
  /** JSON without the braces around it. */
  readonly paths: string
  readonly definitions: string
  readonly hash: string
  /** Set when the document was first read in protobuf. */
  protobuf: ProtobufPart | undefined
}

interface Joined<Body> {
  readonly body: Body
  readonly hash: string
}

const builtInName = ''
const extensionsName = 'extensions'

export class OpenApiV2Parts {
  readonly #catalogue: KindCatalogue
  readonly #digest: (text: string) => string
  readonly #extensions: ExtensionCatalogue
  /** By API version. */
  readonly #parts = new Map<string, Part>()

  constructor(catalogue: KindCatalogue, digest: (text: string) => string, extensions: ExtensionCatalogue) {
    this.#catalogue = catalogue
    this.#digest = digest
    this.#extensions = extensions
  }

  /** Discards the part of a kind. */
  delete({ apiVersion }: Kind): void {
    this.#parts.delete(apiVersion)
  }

  deleteExtensions(): void {
    this.#parts.delete(extensionsName)
  }

  async json(): Promise<Joined<string>> {
    const parts = await this.#all()
    const joined = (name: 'paths' | 'definitions'): string =>
      parts
        .map((part) => part[name])
        .filter((text) => text !== '')
        .join(',')
    const head = JSON.stringify(openApiV2Head).slice(0, -1)
    return {
      body: `${head},"paths":{${joined('paths')}},"definitions":{${joined('definitions')}}}`,
      hash: this.#hashOf(parts),
    }
  }

  async protobuf(): Promise<Joined<Uint8Array>> {
    const parts = await this.#all()
    for (const part of parts) {
      if (part.protobuf !== undefined) continue
      part.protobuf = protobufPart({ paths: parsed(part.paths), definitions: parsed(part.definitions) })
      await eventLoopTurn()
    }
    const encoded = parts.flatMap(({ protobuf }) => protobuf ?? [])
    return { body: joinedProtobuf(openApiV2Head, encoded), hash: this.#hashOf(parts) }
  }

  /** The same for both encodings. */
  #hashOf(parts: readonly Part[]): string {
    return this.#digest(parts.map(({ hash }) => hash).join(','))
  }

  /** One part is built in each turn of the event loop, because there can be many. */
  async #all(): Promise<readonly Part[]> {
    for (const missing of this.#groupVersions()) {
      if (this.#parts.has(nameOf(missing))) continue
      this.#parts.set(nameOf(missing), this.#encoded(this.#build(missing)))
      await eventLoopTurn()
    }
    const extensions = this.#extensions.openApiV2()
    if (extensions.length > 0 && !this.#parts.has(extensionsName))
      this.#parts.set(
        extensionsName,
        this.#encoded(mergedExtensions(extensions, builtInV2Part(this.#catalogue.gated).definitions)),
      )
    // A kind that changed in the meantime is read again.
    const names = [...this.#groupVersions().map(nameOf), ...(extensions.length > 0 ? [extensionsName] : [])]
    const parts = names.map((name) => this.#parts.get(name))
    return parts.some((part) => part === undefined) ? this.#all() : (parts as Part[])
  }

  /** Those with custom kinds, after undefined for the built-in kinds. */
  #groupVersions(): readonly (GroupVersion | undefined)[] {
    return [undefined, ...this.#catalogue.groupVersions.filter((each) => this.#customIn(each).length > 0)]
  }

  #customIn(groupVersion: GroupVersion): readonly Kind[] {
    return this.#catalogue.inGroupVersion(groupVersion).filter(({ custom }) => custom !== undefined)
  }

  #build(groupVersion: GroupVersion | undefined): OpenApiV2Part {
    return groupVersion === undefined
      ? builtInV2Part(this.#catalogue.gated)
      : customV2Part(this.#customIn(groupVersion))
  }

  #encoded(part: OpenApiV2Part): Part {
    const paths = JSON.stringify(part.paths).slice(1, -1)
    const definitions = jsonText(part.definitions).slice(1, -1)
    return { paths, definitions, hash: this.#digest(paths + definitions), protobuf: undefined }
  }
}

const parsed = (text: string): object => parseJson(`{${text}}`) as object

const nameOf = (groupVersion: GroupVersion | undefined): string =>
  groupVersion === undefined ? builtInName : `${groupVersion.group}/${groupVersion.version}`
