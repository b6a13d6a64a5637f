// ServedKinds: the kinds that a test's cluster serves at present, built-in and custom ones.
import { isSameResource, type Kind, type ResourceType } from '../../api/kind/kind.ts'
import { kinds as builtInKinds } from '../../api/kinds.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { ApiServer } from '../../apiserver/server.ts'

export class ServedKinds {
  readonly #server: () => ApiServer | undefined

  /** `server` is called each time, since it may be restarted. */
  constructor(server: () => ApiServer | undefined) {
    this.#server = server
  }

  /** Only the built-in ones while the API server is not running. */
  all(): readonly Kind[] {
    return this.#server()?.catalogue.kinds ?? builtInKinds
  }

  ofObject({ apiVersion, kind }: Pick<ApiObject, 'apiVersion' | 'kind'>): Kind {
    const found = this.all().find((each) => each.kind === kind && each.apiVersion === apiVersion)
    if (found !== undefined) return found
    throw new Error(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
  }

  /** The kind as the server has it: users know custom kinds by their names only. */
  ofType(type: ResourceType): Kind {
    return this.all().find((each) => isSameResource(each, type)) ?? (type as Kind)
  }
}
