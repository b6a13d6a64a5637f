// checkKind: what a program passes in place of a kind is an error that names it.
import { shownArgument } from '../../base/check-arguments.ts'
import type { ResourceType } from './kind.ts'

/** Throws unless a value is a kind: the constants of the library are; names, apiVersions and manifests are not. */
export function checkKind(what: string, kind: ResourceType | null | undefined): void {
  if (typeof kind?.plural === 'string') return
  throw new TypeError(`${what}: ${shownArgument(kind)} is no kind; import it: import { pod } from 'coxswain'`)
}
