// Who are you?
import { unauthorized } from '../../api/status-error.ts'
import { whenKnown } from '../../base/when-known.ts'
import type { Policies } from '../policies.ts'
import { provenSender } from '../component-identity.ts'
import type { ApiRequest, User } from '../request.ts'
import { authenticatedGroup } from '../service-account-name.ts'
import { defineStation } from '../station.ts'

export const authentication = defineStation({
  name: 'authentication',
  records: 'authentication',
  handle: (request, next, policies) =>
    whenKnown(policies.authenticate(request), (authentication) => {
      if (authentication.kind !== 'authenticated') return refuse(request, policies)
      const user = withKnownGroup(authentication.user)
      return next({ ...request, user, sender: provenSender(request, user) })
    }),
})

async function refuse(request: ApiRequest, { audit }: Policies): Promise<never> {
  await audit?.refuse(request)
  throw unauthorized()
}

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
