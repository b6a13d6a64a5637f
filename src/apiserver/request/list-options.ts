// ListOptions and WatchOptions: the query of a list or a watch, validated with upstream's messages.
import { badRequest, invalidObject, StatusError } from '../../api/errors/status-error.ts'
import { booleanParameter, parseInteger } from './query-values.ts'
import { forbidden, notSupported, type FieldError } from '../../schema/validation/field-error.ts'
import { parseToken, type ContinueToken } from './continue-token.ts'

export interface ListOptions {
  /** 0: any state of the cache; undefined: as fresh as the store. */
  readonly revision: number | undefined
  readonly match: 'Exact' | 'NotOlderThan' | undefined
  /** 0: no limit. */
  readonly limit: number
  readonly token: ContinueToken | undefined
}

export interface WatchOptions {
  readonly revision: number | undefined
  readonly sendInitialEvents: boolean | undefined
  readonly bookmarks: boolean
  /** 0: the server chooses. */
  readonly timeoutSeconds: number
}

const exact = 'Exact'
const notOlder = 'NotOlderThan'

export function listOptionsOf(query: URLSearchParams): ListOptions {
  const match = query.get('resourceVersionMatch') ?? ''
  const requested = query.get('resourceVersion') ?? ''
  const continued = query.get('continue') ?? ''
  const errors: FieldError[] = []
  if (match !== '') {
    if (requested === '')
      errors.push(matchForbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'))
    if (continued !== '') errors.push(matchForbidden('resourceVersionMatch is forbidden with continue'))
    if (match !== exact && match !== notOlder)
      errors.push(notSupported('resourceVersionMatch', match, [exact, notOlder, '']))
    if (match === exact && requested === '0')
      errors.push(matchForbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
  }
  if (query.has('sendInitialEvents'))
    errors.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'))
  throwIfInvalid(errors)
  const problem = revisionProblem(requested)
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`)
  const revision = revisionOf(requested)
  // As upstream: a list from any state of the cache is not limited.
  const limit = revision === 0 && continued === '' ? 0 : Math.max(0, Number(parseInteger(query.get('limit') ?? '0')))
  if (continued === '') return { revision, limit, token: undefined, match: matchOf(match, revision, limit) }
  if (revision !== undefined && revision > 0)
    throw badRequest('specifying resource version is not allowed when using continue')
  return { revision, limit, token: parseToken(continued), match: undefined }
}

/** With a limit, a revision is matched exactly by default. */
function matchOf(match: string, revision: number | undefined, limit: number): ListOptions['match'] {
  if (match === exact || match === notOlder) return match
  return revision !== undefined && revision > 0 && limit > 0 ? exact : undefined
}

export function watchOptionsOf(query: URLSearchParams): WatchOptions {
  const match = query.get('resourceVersionMatch') ?? ''
  const isInitial = query.has('sendInitialEvents')
  const errors: FieldError[] = []
  if (isInitial && match !== notOlder)
    errors.push(matchForbidden(`sendInitialEvents requires setting resourceVersionMatch to ${notOlder}`))
  if (match !== '') {
    if (!isInitial)
      errors.push(matchForbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'))
    if (match !== notOlder) errors.push(notSupported('resourceVersionMatch', match, [notOlder]))
    if (query.get('continue')) errors.push(matchForbidden('resourceVersionMatch is forbidden with continue'))
  }
  throwIfInvalid(errors)
  return {
    revision: revisionOf(query.get('resourceVersion') ?? ''),
    sendInitialEvents: isInitial ? booleanParameter(query, 'sendInitialEvents') : undefined,
    bookmarks: booleanParameter(query, 'allowWatchBookmarks'),
    timeoutSeconds: Math.max(0, Number(parseInteger(query.get('timeoutSeconds') ?? '0'))),
  }
}

const matchForbidden = (why: string): FieldError => forbidden('resourceVersionMatch', why)

function throwIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject('meta.k8s.io', 'ListOptions', '', errors)
}

export function revisionOf(text: string): number | undefined {
  const problem = revisionProblem(text)
  // As upstream, which does not consider it an error of the client in every request.
  if (problem !== undefined) throw new StatusError(500, '', problem)
  return text === '' ? undefined : Number(text)
}

const uint64Max = 2n ** 64n - 1n
const uint64DigitsMax = 20

/** Why the text of a resourceVersion is not a number of 64 bits; undefined if it is one. */
export function revisionProblem(text: string): string | undefined {
  const problem = numberProblem(text)
  return problem === undefined ? undefined : `resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`
}

/** As revisionProblem, in the words of Go's parser. */
export function numberProblem(text: string): string | undefined {
  const isNumber = /^\d*$/.test(text)
  const digits = text.replace(/^0+/, '')
  if (isNumber && digits.length <= uint64DigitsMax && BigInt(digits) <= uint64Max) return undefined
  const why = isNumber ? 'value out of range' : 'invalid syntax'
  return `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`
}

/** The only valid stage is `All`. */
export const dryRunErrors = (stages: readonly string[]): FieldError[] =>
  stages.some((stage) => stage !== 'All') ? [notSupported('dryRun', stages, ['All'])] : []
