// Requests with impersonation headers, by what their sender was granted. `test/record/impersonation.ts` records the responses of
// kube-apiserver, and impersonation-filter.test.ts expects the same of ours.
import type { MatrixRequest } from '../authorization/access-matrix.harness.ts'

export interface ImpersonationCase extends MatrixRequest {
  readonly headers: Readonly<Record<string, string>>
  /** The token of the sender is bound to the node `n`. */
  readonly isOnNode: boolean
  readonly rules: readonly object[]
}

export interface ImpersonationRow extends ImpersonationCase {
  readonly status: number
  /** The message of an error. */
  readonly message?: string
  /** The user that the rest of the server sees, in the response to a SelfSubjectReview. */
  readonly user?: object
}

/** `test/facts/impersonation.json` */
export interface ImpersonationFacts {
  /** The objects that the requests use, in the order of their creation: path and object. */
  readonly objects: readonly (readonly [path: string, object: object])[]
  readonly rows: readonly ImpersonationRow[]
}

/** The result of a case, from the response to it. */
export function impersonationResult(
  status: number,
  body: { message?: string; status?: { userInfo?: object } },
): Pick<ImpersonationRow, 'status' | 'message' | 'user'> {
  const { message } = body
  const user = body.status?.userInfo
  return {
    status,
    ...(status < 300 || message === undefined ? {} : { message }),
    ...(user === undefined ? {} : { user }),
  }
}
