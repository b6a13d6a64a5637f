// Anonymous: who presents nothing. Roles decide what such a user may do: health and version, unless somebody binds more.
import { userWithName } from '../request/request.ts'
import type { Target } from '../request/request.ts'

export const anonymousUser = userWithName('system:anonymous', ['system:unauthenticated'])

export interface AnonymousRules {
  readonly enabled: boolean
  /** Paths to which it is limited; undefined: none. */
  readonly paths: readonly string[] | undefined
}

export const allowsAnonymous = ({ enabled, paths }: AnonymousRules, target: Target): boolean =>
  enabled && (paths === undefined || (target.kind === 'path' && paths.includes(target.path)))
