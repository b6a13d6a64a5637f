// ContinueToken: where the next page of a list begins, and at which revision the list was true.
import { badRequest, StatusError } from '../../api/errors/status-error.ts'

export interface ContinueToken {
  /** The revision of the first page; -1 goes on with whatever is there now. */
  readonly revision: number
  readonly start: string
  /** When the first page was asked for. */
  readonly startMs: number
}

/** So long the pages of a list are those of one revision: upstream's store forgets after five to ten minutes. */
export const continueMsMax = 5 * 60_000

const version = 'meta.k8s.io/v1'
/** As upstream writes it: the rest of a list whose first pages are too old to be repeated. */
export const inconsistentRevision = -1

export const writeToken = ({ revision, start, startMs: startedMs }: ContinueToken): string =>
  new TextEncoder()
    .encode(JSON.stringify({ v: version, rv: revision, start, at: startedMs }))
    .toBase64({ alphabet: 'base64url', omitPadding: true })

export function parseToken(text: string): ContinueToken {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: 'base64url' })
    const { v, rv, start, at } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>
    if (v === version && typeof start === 'string' && typeof rv === 'number' && Number.isSafeInteger(rv))
      if (rv > 0 || rv === inconsistentRevision)
        return { revision: rv, start, startMs: typeof at === 'number' ? at : 0 }
  } catch {
    // falls through to the one error for every broken token
  }
  throw badRequest('continue key is not valid')
}

/** A token whose revision is gone: with it comes one to go on all the same, at the price of consistency. */
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
