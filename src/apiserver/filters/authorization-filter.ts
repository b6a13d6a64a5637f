// The authorization filter: rejects requests that no authorizer allows with 403.
import { assert } from '../../base/assert.ts'
import { thenMaybe } from '../../base/async/maybe-promise.ts'
import { attributesOf } from '../authorization/attributes.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import { defineFilter } from './filter.ts'

export const authorizationFilter = defineFilter({
  name: 'authorization',
  records: 'authorization',
  handle(request, next, policies) {
    const { user, record } = request
    assert(user !== undefined, 'authentication comes before authorization')
    const attributes = attributesOf(user, request)
    return thenMaybe(policies.authorize(attributes, request.context.signal), (decision) => {
      if (record !== undefined) {
        record.annotate('authorization.k8s.io/decision', decision.kind === 'allowed' ? 'allow' : 'forbid')
        record.annotate('authorization.k8s.io/reason', decision.reason())
      }
      if (decision.kind !== 'allowed') throw forbiddenAccess(attributes, decision.reason())
      return next({ ...request, allowedBy: decision })
    })
  },
})
