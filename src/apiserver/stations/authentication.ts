// Who are you?
import { unauthorized } from '../../api/status-error.ts'
import { defineStation } from '../station.ts'

const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

export const authentication = defineStation({
  name: 'authentication',
  handle(request, next, policies) {
    const user = policies.authenticate(request.credentials)
    if (user === undefined && !policies.allowsAnonymous(request)) throw unauthorized()
    return next({ ...request, user: user ?? anonymous })
  },
})
