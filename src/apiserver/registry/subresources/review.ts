// handleReview: a create that is evaluated and not stored, after admission.
import { methodNotAllowed, badRequest } from '../../../api/errors/status-error.ts'
import type { ApiResponse } from '../../request/response.ts'
import type { AdmissionChain } from '../../admission/framework/admission-chain.ts'
import { admitBody } from './subresource-admission.ts'
import type { ResourceRequest } from '../../request/request.ts'
import type { Review } from '../../request/review.ts'

/** `fresh` waits until the cache of a reviewed object is as new as the store, so that an object can be reviewed right after its creation. */
export async function handleReview(
  review: Review,
  request: ResourceRequest,
  admission: AdmissionChain,
  fresh: () => Promise<void> | undefined,
): Promise<ApiResponse> {
  const { verb } = request.target
  if (verb !== 'create') throw methodNotAllowed()
  if (request.body.kind === 'none') throw badRequest('the request has no body')
  const objectKind = review.subresource === '' ? { objectKind: review.kind } : {}
  const body = await admitBody(admission, request, request.body.value, review.kind, review.subresource)
  await fresh()
  return { kind: 'object', status: 201, object: await review.review(body, request), ...objectKind }
}
