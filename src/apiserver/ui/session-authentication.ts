// withUiSessions: policies that also authenticate the session cookie of the web UI. A request with the cookie is
// authenticated by it alone: a session that has ended is 401, not another user. Every authenticated user may open the UI:
// it shows what the user may read. This is not a role, because the default roles are those of upstream.
import { StatusError } from '../../api/errors/status-error.ts'
import { authenticated, rejected } from '../authentication/authenticator.ts'
import type { AccessAttributes } from '../authorization/attributes.ts'
import { allowed } from '../authorization/authorizer.ts'
import type { Policies } from '../filters/policies.ts'
import type { ApiRequest } from '../request/request.ts'
import { authenticatedGroup } from '../request/user-names.ts'
import { sessionMisuse, sessionTokenOf, sessionUseOf } from './session-requests.ts'
import { uiRoot } from './ui-assets.ts'
import type { UiSessions } from './ui-sessions.ts'

export const withUiSessions = (policies: Policies, sessions: UiSessions): Policies => ({
  ...policies,
  authenticate(request) {
    const { credentials } = request
    const token = credentials.kind === 'presented' ? sessionTokenOf(credentials.headers) : undefined
    if (credentials.kind !== 'presented' || token === undefined) return policies.authenticate(request)
    const user = sessions.userOf(token)
    if (user === undefined) return rejected('the session of the web UI has ended')
    const misuse = sessionMisuse(sessionUseOf(request, credentials.headers), credentials.headers)
    if (misuse !== undefined)
      throw new StatusError(403, 'Forbidden', `this request may not use the session of the web UI: ${misuse}`)
    return authenticated(user, [])
  },
  authorize: (attributes, signal) => (opensUi(attributes) ? mayOpenUi : policies.authorize(attributes, signal)),
})

const mayOpenUi = allowed('every authenticated user may open the web UI')

const opensUi = (attributes: AccessAttributes): boolean =>
  attributes.kind === 'path' &&
  attributes.path.startsWith(uiRoot) &&
  (attributes.verb === 'get' || attributes.verb === 'post') &&
  attributes.user.groups.includes(authenticatedGroup)

/** False if the session of a long request has ended since. Requests without a session remain. */
export function hasOpenSession({ credentials }: ApiRequest, sessions: UiSessions): boolean {
  const token = credentials.kind === 'presented' ? sessionTokenOf(credentials.headers) : undefined
  return token === undefined || sessions.userOf(token) !== undefined
}
