// The authentication filter: sets the user of a request, or rejects it with 401.
import { unauthorized } from '../../api/errors/status-error.ts'
import { thenMaybe } from '../../base/async/maybe-promise.ts'
import type { Policies } from './policies.ts'
import { verifiedSender } from '../request/component-identity.ts'
import type { ApiRequest, User } from '../request/request.ts'
import { authenticatedGroup } from '../request/user-names.ts'
import { defineFilter } from './filter.ts'

export const authenticationFilter = defineFilter({
  name: 'authentication',
  records: 'authentication',
  handle: (request, next, policies) =>
    thenMaybe(policies.authenticate(request), (authentication) => {
      if (authentication.kind !== 'authenticated') return rejectUnauthenticated(request, policies)
      const user = withAuthenticatedGroup(authentication.user)
      return next({ ...request, user, sender: verifiedSender(request, user) })
    }),
})

async function rejectUnauthenticated(request: ApiRequest, { audit }: Policies): Promise<never> {
  await audit?.recordUnauthenticated(request)
  throw unauthorized()
}

const withGroup = new WeakMap<User, User>()

/** Authenticated users are members of one more group; anonymous users are in another. */
function withAuthenticatedGroup(user: User): User {
  const { groups } = user
  if (groups.includes(authenticatedGroup) || groups.includes('system:unauthenticated')) return user
  let known = withGroup.get(user)
  if (known === undefined) {
    known = { ...user, groups: [...groups, authenticatedGroup] }
    withGroup.set(user, known)
  }
  return known
}
