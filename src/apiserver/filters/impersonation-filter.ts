// The impersonation filter: a user with permission acts as another user from here on.
import { assert } from '../../base/assert.ts'
import { badRequest } from '../../api/errors/status-error.ts'
import { resourceAttributes, type ResourceAttributes } from '../authorization/attributes.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import type { ApiResponse } from '../request/response.ts'
import type { Policies } from './policies.ts'
import type { ApiRequest, Presented, User } from '../request/request.ts'
import { serviceAccountOf, authenticatedGroup, serviceAccountGroups } from '../request/user-names.ts'
import { defineFilter, type Handler } from './filter.ts'

const extraPrefix = 'impersonate-extra-'

export const impersonationFilter = defineFilter({
  name: 'impersonation',
  handle(request, next, policies) {
    const { user, credentials } = request
    assert(user !== undefined, 'authentication comes before impersonation')
    const requested = credentials.kind === 'presented' ? requestedUser(credentials) : undefined
    return requested === undefined
      ? next(request)
      : impersonate(request, requiredAttributes(user, requested), requested, next, policies)
  },
})

async function impersonate(
  request: ApiRequest,
  required: readonly ResourceAttributes[],
  requested: User,
  next: Handler,
  policies: Policies,
): Promise<ApiResponse> {
  for (const attributes of required) {
    const decision = await policies.authorize(attributes, request.context.signal)
    if (decision.kind !== 'allowed') throw forbiddenAccess(attributes, decision.reason())
  }
  const impersonated = withImpliedGroups(requested)
  request.record?.setImpersonated(impersonated)
  return next({ ...request, user: impersonated })
}

function requestedUser({ headers, headerValues }: Presented): User | undefined {
  const name = headers['impersonate-user'] ?? ''
  const groups = headerValues('impersonate-group')
  const uid = headers['impersonate-uid'] ?? ''
  const extraKeys = Object.keys(headers).filter((key) => key.startsWith(extraPrefix))
  if (name === '') {
    if (groups.length > 0 || uid !== '' || extraKeys.length > 0)
      throw badRequest('groups, a uid or extra values were to be impersonated without impersonating a user')
    return undefined
  }
  const extra = extraKeys.map((key) => [unescaped(key.slice(extraPrefix.length)), headerValues(key)] as const)
  return { name, uid, groups, extra: Object.fromEntries(extra) }
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** Each impersonated attribute requires its own permission. */
function requiredAttributes(user: User, { name, uid, groups, extra }: User): ResourceAttributes[] {
  const attributesOf = (rest: Parameters<typeof resourceAttributes>[2]) =>
    resourceAttributes(user, 'impersonate', { version: 'v1', ...rest })
  const account = serviceAccountOf(name)
  const group = 'authentication.k8s.io'
  return [
    account === undefined
      ? attributesOf({ resource: 'users', name })
      : attributesOf({ resource: 'serviceaccounts', ...account }),
    ...groups.map((each) => attributesOf({ resource: 'groups', name: each })),
    ...(uid === '' ? [] : [attributesOf({ group, resource: 'uids', name: uid })]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((value) => attributesOf({ group, resource: 'userextras', subresource: key, name: value })),
    ),
  ]
}

function withImpliedGroups(user: User): User {
  const account = serviceAccountOf(user.name)
  const groups =
    user.groups.length === 0 && account !== undefined ? serviceAccountGroups(account.namespace) : user.groups
  const known = user.name === 'system:anonymous' ? 'system:unauthenticated' : authenticatedGroup
  const isKnown = groups.includes(known) || groups.includes('system:unauthenticated')
  return { ...user, groups: isKnown ? groups : [...groups, known] }
}
