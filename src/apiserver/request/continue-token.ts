// ContinueToken: the position and revision at which the next page of a list begins.
import { badRequest, StatusError } from '../../api/errors/status-error.ts'
import { jsonSyntaxError } from '../../schema/json/json-syntax-error.ts'
import { isJsonObject } from '../../schema/json/json-value.ts'

export interface ContinueToken {
  /** The revision of the first page; -1 continues with the present state. */
  readonly revision: number
  readonly start: string
  /** The time of the request for the first page. */
  readonly startMs: number
}

/** How long the pages of a list show one revision. Upstream's store compacts after five to ten minutes. */
export const continueMsMax = 5 * 60_000

const version = 'meta.k8s.io/v1'
/** As upstream: the revision of a list that continues although its first revision has expired. */
export const inconsistentRevision = -1

export const writeToken = ({ revision, start, startMs }: ContinueToken): string =>
  new TextEncoder()
    .encode(JSON.stringify({ v: version, rv: revision, start, at: startMs }))
    .toBase64({ alphabet: 'base64url', omitPadding: true })

export function parseToken(text: string): ContinueToken {
  const { v, rv, start, at } = fieldsOf(text)
  if (v !== version) throw invalidToken(`server does not recognize this encoded version ${JSON.stringify(v ?? '')}`)
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || (rv <= 0 && rv !== inconsistentRevision))
    throw invalidToken(`incorrect encoded start resourceVersion (version ${version})`)
  if (typeof start !== 'string' || start === '') throw invalidToken(`encoded start key empty (version ${version})`)
  return { revision: rv, start, startMs: typeof at === 'number' ? at : 0 }
}

function fieldsOf(token: string): Readonly<Record<string, unknown>> {
  const json = new TextDecoder().decode(bytesOf(token))
  try {
    const value: unknown = JSON.parse(json)
    return isJsonObject(value) ? value : {}
  } catch {
    throw invalidToken(jsonSyntaxError(json))
  }
}

function bytesOf(token: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(token, { alphabet: 'base64url' })
  } catch {
    throw invalidToken('illegal base64 data')
  }
}

const invalidToken = (why: string): StatusError =>
  badRequest(`invalid continue token: continue key is not valid: ${why}`)

/** The revision of the token has expired. The error carries a token to continue with an inconsistent list. */
export class ContinueExpired extends StatusError {
  readonly #start: string

  constructor(start: string) {
    super(
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    )
    this.#start = start
  }

  override toStatus(): ReturnType<StatusError['toStatus']> {
    const token = writeToken({ revision: inconsistentRevision, start: this.#start, startMs: 0 })
    return { ...super.toStatus(), metadata: { continue: token } }
  }
}
