// Subresource: a part of an object, or something done with it, behind a path of its own.
import type { Message } from '../../schema/descriptor/field.ts'

export interface Subresource {
  readonly name: string
  readonly verbs: readonly string[]
  /** What it answers with, where that is not the object itself. */
  readonly response?: { readonly group: string; readonly version: string; readonly kind: string }
  /** What is posted, where that is not the object itself. */
  readonly body?: Message
  /** What the query of a connection says, as the object that admission sees. */
  readonly options?: Message
  /** Its answer is a stream or a foreign page, no object. */
  readonly isStream?: true
  /** Further segments of the path are passed on. */
  readonly takesPath?: true
  /** Query parameters beside the usual ones. */
  readonly parameters?: Readonly<Record<string, 'string' | 'integer' | 'boolean'>>
}

export const readWriteVerbs = ['get', 'patch', 'update'] as const
const proxyVerbs = ['create', 'delete', 'get', 'patch', 'update'] as const

/** Requests that are passed on to what the object stands for. */
export const proxySubresource = (options: Message): Subresource => ({
  name: 'proxy',
  verbs: proxyVerbs,
  response: { group: '', version: 'v1', kind: options.name.slice(options.name.lastIndexOf('.') + 1) },
  options,
  isStream: true,
  takesPath: true,
  parameters: { path: 'string' },
})
