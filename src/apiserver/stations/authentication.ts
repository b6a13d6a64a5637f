// Who are you?
import { unauthorized } from '../../api/status-error.ts'
import type { User } from '../request.ts'
import { authenticatedGroup } from '../service-account-name.ts'
import { defineStation } from '../station.ts'

export const authentication = defineStation({
  name: 'authentication',
  async handle(request, next, policies) {
    const answer = policies.authenticate(request)
    const authentication = answer instanceof Promise ? await answer : answer
    if (authentication.kind !== 'authenticated') {
      await policies.audit?.refuse(request)
      throw unauthorized()
    }
    return next({ ...request, user: withKnownGroup(authentication.user) })
  },
})

const withGroup = new WeakMap<User, User>()

/** Whoever proved who they are is in one group more; who proved nothing is in another. */
function withKnownGroup(user: User): User {
  const { groups } = user
  if (groups.includes(authenticatedGroup) || groups.includes('system:unauthenticated')) return user
  let known = withGroup.get(user)
  if (known === undefined) {
    known = { ...user, groups: [...groups, authenticatedGroup] }
    withGroup.set(user, known)
  }
  return known
}
