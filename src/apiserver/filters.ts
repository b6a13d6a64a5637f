// The filters in the order in which a request passes them. Admission follows inside a write, where the object is known.
import type { Filter } from './filters/filter.ts'
import { auditFilter } from './filters/audit-filter.ts'
import { authenticationFilter } from './filters/authentication-filter.ts'
import { authorizationFilter } from './filters/authorization-filter.ts'
import { fairnessFilter } from './filters/fairness-filter.ts'
import { impersonationFilter } from './filters/impersonation-filter.ts'

export const filters: readonly Filter[] = [
  authenticationFilter,
  auditFilter,
  impersonationFilter,
  fairnessFilter,
  authorizationFilter,
]
