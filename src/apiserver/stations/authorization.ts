// May you?
import { assert } from '../../base/assert.ts'
import { whenKnown } from '../../base/when-known.ts'
import { attributesOf } from '../authorization/attributes.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import { defineStation } from '../station.ts'

export const authorization = defineStation({
  name: 'authorization',
  records: 'authorization',
  handle(request, next, policies) {
    const { user, record } = request
    assert(user !== undefined, 'authentication comes before authorization')
    const attributes = attributesOf(user, request)
    return whenKnown(policies.authorize(attributes, request.context.signal), (decision) => {
      if (record !== undefined) {
        record.annotate('authorization.k8s.io/decision', decision.kind === 'allowed' ? 'allow' : 'forbid')
        record.annotate('authorization.k8s.io/reason', decision.reason())
      }
      if (decision.kind !== 'allowed') throw forbiddenAccess(attributes, decision.reason())
      return next({ ...request, allowedBy: decision })
    })
  },
})
