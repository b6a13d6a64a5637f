// ExtensionDocuments: discovery and OpenAPI of extensions as their servers served them last. They are read again with ETags.
// What clients read is kept here, so that an extension that does not respond delays no other group.
import { errorText, type Log } from '../../base/observability/log.ts'
import type { APIService } from '../../api/apiregistration/v1/api-service.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'
import { lookup } from '../../base/collections/lookup.ts'
import type { OpenApiV2Part } from '../discovery/openapi-v2.ts'
import type { ExtensionCatalogue } from '../discovery/extension-catalogue.ts'
import type { GroupVersion } from '../kinds/kind-catalogue.ts'
import type { Extension } from '../request/extension.ts'
import type { CacheObserver } from '../watch-cache/object-caches.ts'
import { readExtension, type ExtensionCallDeps } from './discovery-check.ts'
import { versionInGroups, versionOfResources } from './extension-discovery.ts'
import { isForwarded, type Extensions } from './extensions.ts'

export interface ExtensionDocumentsDeps extends ExtensionCallDeps {
  readonly extensions: Extensions
  readonly log: Log
  /** Called when what clients read has changed. */
  readonly onChange: (extension: Extension) => void
}

interface Source {
  readonly etag: string
  readonly value: unknown
}

interface Documents {
  /** The version in aggregated discovery, as text. */
  readonly discovery: string
  readonly openApiV3Url: string | undefined
  readonly openApiV2: OpenApiV2Part | undefined
  /** By path. */
  readonly sources: ReadonlyMap<string, Source>
}

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

export class ExtensionDocuments implements ExtensionCatalogue, CacheObserver {
  readonly #deps: ExtensionDocumentsDeps
  /** By the name of the APIService. */
  readonly #documents = new Map<string, Documents>()

  constructor(deps: ExtensionDocumentsDeps) {
    this.#deps = deps
  }

  /** Documents are kept while an extension is not available, but not after its APIService. */
  changed(now: ApiObject | undefined, before: ApiObject | undefined): void {
    const isExtension = now !== undefined && isForwarded(now as APIService)
    if (!isExtension && before !== undefined) this.#documents.delete(before.metadata.name)
  }

  hasGroup(group: string): boolean {
    return [...this.#deps.extensions].some((each) => each.group === group)
  }

  discoveryOf({ group, version }: GroupVersion): object | undefined {
    const extension = this.#deps.extensions.at(group, version)
    if (extension === undefined) return undefined
    const known = extension.isAvailable ? this.#documents.get(extension.name) : undefined
    return known === undefined ? { version, freshness: 'Stale' } : (JSON.parse(known.discovery) as object)
  }

  openApiV3(): ReadonlyMap<string, string | undefined> {
    return new Map(
      [...this.#deps.extensions].map((each) => [documentName(each), this.#documents.get(each.name)?.openApiV3Url]),
    )
  }

  openApiV2(): readonly OpenApiV2Part[] {
    return [...this.#deps.extensions].flatMap(({ name }) => this.#documents.get(name)?.openApiV2 ?? [])
  }

  /** Reads discovery again. `resources` is the list of resources that the server has just returned. */
  async refreshDiscovery(extension: Extension, resources: string, signal: AbortSignal): Promise<void> {
    const before = this.#documents.get(extension.name)
    const accept = `${aggregatedType},application/json`
    const source = await this.#read(extension, '/apis', accept, before?.sources.get('/apis'), signal)
    const version = versionInGroups(source?.value, extension) ?? versionOfResources(parsed(resources), extension)
    this.#set(extension, { discovery: JSON.stringify(version) }, [['/apis', source]])
  }

  /** Reads the OpenAPI documents again. */
  async refreshOpenApi(extension: Extension, signal: AbortSignal): Promise<void> {
    const before = this.#documents.get(extension.name)
    const read = (path: string) => this.#read(extension, path, 'application/json', before?.sources.get(path), signal)
    const v3 = await read('/openapi/v3')
    const v2 = await read('/openapi/v2')
    const isSame = before?.sources.get('/openapi/v2') === v2
    const changes = {
      openApiV3Url: urlIn(v3?.value, documentName(extension)),
      openApiV2: isSame ? before?.openApiV2 : partOf(v2?.value, extension),
    }
    this.#set(extension, changes, [
      ['/openapi/v3', v3],
      ['/openapi/v2', v2],
    ])
  }

  #set(
    extension: Extension,
    changes: Partial<Documents>,
    read: readonly (readonly [path: string, source: Source | undefined])[],
  ): void {
    const before = this.#documents.get(extension.name)
    const sources = new Map(before?.sources)
    for (const [path, source] of read)
      if (source === undefined) sources.delete(path)
      else sources.set(path, source)
    const documents = { ...(before ?? nothingRead(extension)), ...changes, sources }
    this.#documents.set(extension.name, documents)
    if (isChanged(before, documents)) this.#deps.onChange(extension)
  }

  /** Undefined where the server does not have the document. */
  async #read(
    extension: Extension,
    path: string,
    accept: string,
    known: Source | undefined,
    signal: AbortSignal,
  ): Promise<Source | undefined> {
    try {
      const headers = { accept, ...(known === undefined || known.etag === '' ? {} : { 'if-none-match': known.etag }) }
      const { status, text, etag } = await readExtension(extension, path, headers, this.#deps, signal)
      if (status === 304 && known !== undefined) return known
      return status === 200 ? { etag, value: JSON.parse(text) } : undefined
    } catch (error) {
      signal.throwIfAborted()
      this.#deps.log.debug('a document of an extension could not be read', {
        apiService: extension.name,
        path,
        error: errorText(error),
      })
      return known
    }
  }
}

const documentName = ({ group, version }: GroupVersion): string => `apis/${group}/${version}`

const nothingRead = ({ version }: Extension): Documents => ({
  discovery: JSON.stringify({ version, freshness: 'Stale' }),
  openApiV3Url: undefined,
  openApiV2: undefined,
  sources: new Map(),
})

const isChanged = (before: Documents | undefined, now: Documents): boolean =>
  before?.discovery !== now.discovery || before.openApiV3Url !== now.openApiV3Url || before.openApiV2 !== now.openApiV2

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function urlIn(index: unknown, name: string): string | undefined {
  const paths = isJsonObject(index) ? index['paths'] : undefined
  const entry = isJsonObject(paths) ? lookup(paths, name) : undefined
  const url = isJsonObject(entry) ? entry['serverRelativeURL'] : undefined
  return typeof url === 'string' ? url : undefined
}

/** The paths of the group version, and all definitions, as upstream. */
function partOf(document: unknown, extension: GroupVersion): OpenApiV2Part | undefined {
  if (!isJsonObject(document) || !isJsonObject(document['paths'])) return undefined
  const prefix = `/${documentName(extension)}/`
  const paths = Object.entries(document['paths']).filter(([path]) => path.startsWith(prefix))
  const definitions = isJsonObject(document['definitions']) ? document['definitions'] : {}
  return { paths: Object.fromEntries(paths), definitions } as OpenApiV2Part
}
