// Review: a create that is answered and keeps nothing: questions about access, tokens, and who the asker is.
import type { Kind } from '../../api/kind.ts'
import { methodNotAllowed, badRequest } from '../../api/status-error.ts'
import type { Answer } from '../answer.ts'
import type { AdmissionChain } from '../admission/chain.ts'
import { admittedBody } from './admit-posted.ts'
import type { ResourceRequest } from './parts.ts'

export interface Review {
  /** The resource that is posted to, and the subresource where the question is about an object that is kept. */
  readonly kind: Kind
  readonly subresource: string
  answer(body: unknown, request: ResourceRequest): object | Promise<object>
}

export async function handleReview(
  review: Review,
  request: ResourceRequest,
  admission: AdmissionChain,
): Promise<Answer> {
  const { verb } = request.target
  if (verb !== 'create') throw methodNotAllowed()
  if (request.body.kind === 'none') throw badRequest('the request has no body')
  const of = review.subresource === '' ? { of: review.kind } : {}
  const body = await admittedBody(admission, request, request.body.value, review.kind, review.subresource)
  return { kind: 'object', status: 201, object: await review.answer(body, request), ...of }
}
