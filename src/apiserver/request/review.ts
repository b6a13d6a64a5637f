// Review: the contract of a create that is evaluated and not stored: access reviews, token reviews and token requests.
import type { Kind } from '../../api/kind/kind.ts'
import type { ResourceRequest } from './request.ts'

export interface Review {
  readonly kind: Kind
  /** Empty for a review of its own kind; the subresource where the review concerns a stored object. */
  readonly subresource: string
  review(body: unknown, request: ResourceRequest): object | Promise<object>
}
