// listAllPages: a whole list in pages, all of one revision, so that a large list is neither built nor sent in one piece.
import type { Context } from '../../base/observability/context.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import type { ListOptions, ResourceClient, TypedPage } from '../client.ts'

/** Objects in a page, as in client-go. */
export const listPageSize = 500

export const isExpired = (error: unknown): boolean => error instanceof StatusError && error.code === 410

/**
 * The first page is a consistent read, and the continue token keeps the others at its revision. A token that has expired
 * could only be continued inconsistently, so the list is then read again in one request, as client-go does.
 */
export async function listAllPages<T extends ApiObject>(
  client: Pick<ResourceClient<T, unknown>, 'list'>,
  options: ListOptions,
  context: Context,
): Promise<Pick<TypedPage<T>, 'items' | 'revision'>> {
  const first = await client.list({ ...options, limit: listPageSize }, context)
  let { continueToken } = first
  if (continueToken === '') return first
  const items = [...first.items]
  while (continueToken !== '') {
    let page: TypedPage<T>
    try {
      page = await client.list({ ...options, limit: listPageSize, continueToken }, context)
    } catch (error) {
      if (!isExpired(error)) throw error
      return client.list(options, context)
    }
    // Every page makes progress, so the number of pages is bounded by the number of objects.
    if (page.items.length === 0 && page.continueToken !== '') throw new Error('an empty page has a continue token')
    for (const object of page.items) items.push(object)
    continueToken = page.continueToken
  }
  return { items, revision: first.revision }
}
