// Review: a create that is answered and keeps nothing: questions about access, tokens, and who the asker is.
import type { Kind } from '../../api/kind/kind.ts'
import { methodNotAllowed, badRequest } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../request/response.ts'
import type { AdmissionChain } from '../admission/framework/admission-chain.ts'
import { admitBody } from './subresource-admission.ts'
import type { ResourceRequest } from './resource-deps.ts'

export interface Review {
  /** The resource that is posted to, and the subresource where the question is about an object that is kept. */
  readonly kind: Kind
  readonly subresource: string
  review(body: unknown, request: ResourceRequest): object | Promise<object>
}

export async function handleReview(
  review: Review,
  request: ResourceRequest,
  admission: AdmissionChain,
): Promise<ApiResponse> {
  const { verb } = request.target
  if (verb !== 'create') throw methodNotAllowed()
  if (request.body.kind === 'none') throw badRequest('the request has no body')
  const of = review.subresource === '' ? { objectKind: review.kind } : {}
  const body = await admitBody(admission, request, request.body.value, review.kind, review.subresource)
  return { kind: 'object', status: 201, object: await review.review(body, request), ...of }
}
