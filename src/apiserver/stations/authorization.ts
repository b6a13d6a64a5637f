// May you?
import { assert } from '../../base/assert.ts'
import { attributesOf } from '../authorization/attributes.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import { defineStation } from '../station.ts'

export const authorization = defineStation({
  name: 'authorization',
  async handle(request, next, policies) {
    const { user } = request
    assert(user !== undefined, 'authentication comes before authorization')
    const attributes = attributesOf(user, request)
    const answer = policies.authorize(attributes, request.context.signal)
    const decision = answer instanceof Promise ? await answer : answer
    if (request.record !== undefined) {
      request.record.annotate('authorization.k8s.io/decision', decision.kind === 'allowed' ? 'allow' : 'forbid')
      request.record.annotate('authorization.k8s.io/reason', decision.reason())
    }
    if (decision.kind !== 'allowed') throw forbiddenAccess(attributes, decision.reason())
    return next({ ...request, allowedBy: decision })
  },
})
