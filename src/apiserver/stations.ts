// The stations in the order in which a request passes them. Admission follows inside a write, where the object is known.
import type { Station } from './station.ts'
import { audit } from './stations/audit.ts'
import { authentication } from './stations/authentication.ts'
import { authorization } from './stations/authorization.ts'
import { fairness } from './stations/fairness.ts'
import { impersonation } from './stations/impersonation.ts'

export const stations: readonly Station[] = [authentication, audit, impersonation, fairness, authorization]
