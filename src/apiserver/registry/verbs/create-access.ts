// Permission to create, for requests that create under another verb: an apply or update of an object that does not
// exist, and streams into containers that a GET opens.
import { assert } from '../../../base/assert.ts'
import { forbidden } from '../../../api/errors/status-error.ts'
import { attributesOf } from '../../authorization/attributes.ts'
import type { Authorizer, Decision } from '../../authorization/authorizer.ts'
import { forbiddenAccess } from '../../authorization/forbidden-access.ts'
import type { ResourceRequest } from '../../request/request.ts'

type Authorize = Authorizer['authorize']

/** Throws unless the user may create the object that the request names. */
export async function requireCreate(authorize: Authorize, request: ResourceRequest): Promise<void> {
  const { attributes, decision } = await creation(authorize, request)
  if (decision.kind !== 'allowed') throw forbiddenAccess(attributes, decision.reason())
}

/** The same for exec, attach and port-forward, with upstream's shorter message. */
export async function requireStreamCreate(authorize: Authorize, request: ResourceRequest): Promise<void> {
  const { decision } = await creation(authorize, request)
  if (decision.kind !== 'allowed') throw forbidden(request.target.resource, request.target.name, decision.reason())
}

async function creation(authorize: Authorize, request: ResourceRequest) {
  const { user, target, query, context } = request
  assert(user !== undefined, 'authentication comes before the registry')
  const attributes = attributesOf(user, { query, target: { ...target, verb: 'create' } })
  const decision: Decision = await authorize(attributes, context.signal)
  return { attributes, decision }
}
