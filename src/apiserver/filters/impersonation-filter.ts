// The impersonation filter: a user with permission acts as another user from here on.
import { assert } from '../../base/assert.ts'
import { badRequest, StatusError } from '../../api/errors/status-error.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import type { ApiResponse } from '../request/response.ts'
import type { Policies } from './policies.ts'
import type { ApiRequest, Presented, User } from '../request/request.ts'
import { defineFilter, type Handler } from './filter.ts'
import { impersonationModes, type ImpersonationMode } from './impersonation-modes.ts'

const extraPrefix = 'impersonate-extra-'

export const impersonationFilter = defineFilter({
  name: 'impersonation',
  handle(request, next, policies) {
    const { user, credentials } = request
    assert(user !== undefined, 'authentication comes before impersonation')
    const requested = credentials.kind === 'presented' ? requestedUser(credentials) : undefined
    return requested === undefined
      ? next(request)
      : impersonate(request, impersonationModes(user, requested, request), next, policies)
  },
})

async function impersonate(
  request: ApiRequest,
  modes: readonly ImpersonationMode[],
  next: Handler,
  policies: Policies,
): Promise<ApiResponse> {
  let first: StatusError | undefined
  for (const mode of modes) {
    const error = await rejection(mode, request, policies)
    if (error === undefined) {
      request.record?.setImpersonated(mode.impersonated, mode.constraint)
      return next({ ...request, user: mode.impersonated })
    }
    first ??= error
  }
  assert(first !== undefined, 'the unconstrained mode always applies')
  throw first
}

async function rejection(
  mode: ImpersonationMode,
  { context }: ApiRequest,
  policies: Policies,
): Promise<StatusError | undefined> {
  for (const required of mode.required()) {
    if (required instanceof StatusError) return required
    const decision = await policies.authorize(required, context.signal)
    if (decision.kind !== 'allowed') return forbiddenAccess(required, decision.reason())
  }
  return undefined
}

function requestedUser({ headers, headerValues }: Presented): User | undefined {
  if (!namesUser(headers)) return undefined
  const name = headers['impersonate-user'] ?? ''
  const groups = headerValues('impersonate-group')
  const uid = headers['impersonate-uid'] ?? ''
  const extraKeys = Object.keys(headers).filter((key) => key.startsWith(extraPrefix))
  const extra = extraKeys.map((key) => [unescaped(key.slice(extraPrefix.length)), headerValues(key)] as const)
  const user = { name, uid, groups, extra: Object.fromEntries(extra) }
  if (name !== '') return user
  if (groups.length === 0 && uid === '' && extra.length === 0) return undefined
  throw badRequest(`requested ${goText(user)} without impersonating a user name`)
}

/** Most requests have no such header. */
function namesUser(headers: Presented['headers']): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}

/** As Go prints the struct, which is part of upstream's message. */
function goText({ uid, groups, extra }: User): string {
  const list = (values: readonly string[]) => `{${values.map((value) => JSON.stringify(value)).join(', ')}}`
  const entries = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:[]string${list(values)}`)
  const shownGroups = groups.length === 0 ? '(nil)' : list(groups)
  const shownExtra = entries.length === 0 ? '(nil)' : `{${entries.join(', ')}}`
  return `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:[]string${shownGroups}, Extra:map[string][]string${shownExtra}}`
}
