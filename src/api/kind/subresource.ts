// Subresource: a part of an object, or an action on it, with its own path.
import type { Message } from '../../schema/descriptor/field.ts'

export interface Subresource {
  readonly name: string
  readonly verbs: readonly string[]
  /** The kind of its response, if it is not the object itself. */
  readonly response?: { readonly group: string; readonly version: string; readonly kind: string }
  /** The message of its request body, if it is not the object itself. */
  readonly body?: Message
  /** The query of a connection, as the object that admission sees. */
  readonly options?: Message
  /** Its response is a stream or a proxied response, not an object. */
  readonly isStream?: true
  /** The rest of the path is passed on. */
  readonly takesPath?: true
  /** Query parameters in addition to the usual ones. */
  readonly parameters?: Readonly<Record<string, 'string' | 'integer' | 'boolean'>>
}

export const readWriteVerbs = ['get', 'patch', 'update'] as const
const proxyVerbs = ['create', 'delete', 'get', 'patch', 'update'] as const

/** A subresource that proxies requests to the object's address. */
export const proxySubresource = (options: Message): Subresource => ({
  name: 'proxy',
  verbs: proxyVerbs,
  response: { group: '', version: 'v1', kind: options.name.slice(options.name.lastIndexOf('.') + 1) },
  options,
  isStream: true,
  takesPath: true,
  parameters: { path: 'string' },
})
