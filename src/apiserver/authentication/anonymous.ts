// The user of requests without credentials. By default its roles allow only health checks and the version.
import { userWithName } from '../request/request.ts'
import type { Target } from '../request/request.ts'
import { anonymousUser as anonymousName } from '../request/user-names.ts'

export const anonymousUser = userWithName(anonymousName, ['system:unauthenticated'])

export interface AnonymousRules {
  readonly enabled: boolean
  /** The only paths for anonymous requests; undefined: all paths. */
  readonly paths: readonly string[] | undefined
}

export const allowsAnonymous = ({ enabled, paths }: AnonymousRules, target: Target): boolean =>
  enabled && (paths === undefined || (target.kind === 'path' && paths.includes(target.path)))
