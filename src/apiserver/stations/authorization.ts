// May you?
import { assert } from '../../base/assert.ts'
import { forbidden, StatusError } from '../../api/status-error.ts'
import type { ApiRequest, User } from '../request.ts'
import { defineStation } from '../station.ts'

export const authorization = defineStation({
  name: 'authorization',
  handle(request, next, policies) {
    const { user } = request
    assert(user !== undefined, 'authentication comes before authorization')
    const decision = policies.authorize(user, request)
    if (decision.kind === 'denied') throw refusal(user, request, decision.why)
    return next(request)
  },
})

/** The text that users of kubectl know. */
function refusal(user: User, { target }: ApiRequest, why: string): StatusError {
  const reason = why === '' ? '' : `: ${why}`
  if (target.kind === 'path')
    return new StatusError(
      403,
      'Forbidden',
      `forbidden: User ${JSON.stringify(user.name)} cannot ${target.verb} path ${JSON.stringify(target.path)}${reason}`,
      {},
    )
  const { resource, subresource, namespace, name, verb } = target
  const what = `${resource.plural}${subresource === '' ? '' : `/${subresource}`}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`
  const detail = `User ${JSON.stringify(user.name)} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(resource.group)} ${where}${reason}`
  return forbidden({ group: resource.group, plural: what }, name, detail)
}
