// The schemas of kinds for the editor: the OpenAPI document of a group and version is read when one of its kinds is first edited.
import { RecentMap } from '../../../base/collections/recent-map.ts'
import type { KnownKind, KnownKinds } from '../model/editing/known-kinds.ts'
import { schemaOfKind, type OpenApiDocument } from '../model/editing/schema-node.ts'
import type { Resource, Source } from '../source/source.ts'

/** Documents that are kept, of about 100 kB each; the largest ones have ten times as much. */
const documentsMax = 16
/** Groups and versions of one text that are looked at. */
const versionsMax = 8

export interface FieldSchemasDeps {
  readonly source: Pick<Source, 'actions'>
  readonly resources: () => readonly Resource[]
}

export class FieldSchemas {
  readonly #deps: FieldSchemasDeps
  readonly #documents = new RecentMap<string, Promise<OpenApiDocument | undefined>>(documentsMax)

  constructor(deps: FieldSchemasDeps) {
    this.#deps = deps
  }

  /** What is known about the kinds of a text. A document that cannot be read is one without schemas. */
  async of(kinds: readonly KnownKind[]): Promise<KnownKinds> {
    const versions = [...new Set(kinds.map(({ apiVersion }) => apiVersion))].slice(0, versionsMax)
    const read = await Promise.all(versions.map(async (version) => [version, await this.#document(version)] as const))
    const documents = new Map(read)
    return {
      all: this.#deps
        .resources()
        .map(({ group, version, kind }) => ({ apiVersion: group === '' ? version : `${group}/${version}`, kind })),
      schemaOf({ apiVersion, kind }) {
        const document = documents.get(apiVersion)
        return document && schemaOfKind(document, { ...groupVersionOf(apiVersion), kind })
      },
    }
  }

  /** Reads them again when they are needed, because definitions of custom resources have changed. */
  forget(): void {
    for (const [version] of [...this.#documents.entries()]) this.#documents.delete(version)
  }

  #document(apiVersion: string): Promise<OpenApiDocument | undefined> {
    const { source, resources } = this.#deps
    const { group, version } = groupVersionOf(apiVersion)
    const isServed = resources().some((resource) => resource.group === group && resource.version === version)
    // While it is typed, the name of a version changes with each letter.
    if (source.actions === undefined || !isServed) return Promise.resolve(undefined)
    const known = this.#documents.get(apiVersion)
    if (known !== undefined) return known
    const reading = source.actions.openApi({ group, version }).catch(() => {
      this.#documents.delete(apiVersion)
      return undefined
    })
    this.#documents.set(apiVersion, reading)
    return reading
  }
}

const groupVersionOf = (apiVersion: string): { readonly group: string; readonly version: string } => {
  const [first = '', second] = apiVersion.split('/')
  return second === undefined ? { group: '', version: first } : { group: first, version: second }
}
