// StatusError: the class of all API errors, with upstream's reasons, codes and messages.
// Only the HTTP handler converts it to a Status on the wire.
import { fieldErrorText, type FieldError } from '../../schema/validation/field-error.ts'
import { qualifiedResource } from '../kind/kind.ts'
import type { Status } from '../meta/v1/status.ts'

/** Upstream gives no reason for unexpected errors; kubectl then shows only the message. */
export type StatusReason =
  | ''
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'UnsupportedMediaType'

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly { readonly reason?: string; readonly message: string; readonly field?: string }[]
  readonly retryAfterSeconds?: number
}

/** The resource that an error is about. */
export interface ResourceName {
  readonly group: string
  readonly plural: string
}

export class StatusError extends Error {
  override name = 'StatusError'
  readonly code: number
  readonly reason: StatusReason
  readonly details: StatusDetails | undefined

  constructor(code: number, reason: StatusReason, message: string, details?: StatusDetails, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.reason = reason
    this.details = details
  }

  toStatus(): Omit<Status, 'metadata'> & { kind: string; apiVersion: string; metadata: object } {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    }
  }

  static fromStatus(status: Partial<Status>, code: number): StatusError {
    const reason = (status.reason ?? 'InternalError') as StatusReason
    return new StatusError(
      status.code ?? code,
      reason,
      status.message ?? `the server answered ${code}`,
      status.details as StatusDetails,
    )
  }
}

export const hasReason = (error: unknown, reason: StatusReason): boolean =>
  error instanceof StatusError && error.reason === reason

/** For `catch`: discards errors with one of the reasons, and throws others. */
export const ignoring =
  (...reasons: readonly StatusReason[]) =>
  (error: unknown): undefined => {
    if (!reasons.some((reason) => hasReason(error, reason))) throw error
  }

const about = ({ group, plural }: ResourceName, name: string): StatusDetails => ({
  ...(name === '' ? {} : { name }),
  ...(group === '' ? {} : { group }),
  kind: plural,
})

export const notFound = (resource: ResourceName, name: string): StatusError =>
  new StatusError(
    404,
    'NotFound',
    `${qualifiedResource(resource)} ${JSON.stringify(name)} not found`,
    about(resource, name),
  )

export const alreadyExists = (resource: ResourceName, name: string): StatusError =>
  new StatusError(
    409,
    'AlreadyExists',
    `${qualifiedResource(resource)} ${JSON.stringify(name)} already exists`,
    about(resource, name),
  )

export const conflict = (resource: ResourceName, name: string, detail: string): StatusError =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${JSON.stringify(name)}: ${detail}`,
    about(resource, name),
  )

export const modifiedConflict = (resource: ResourceName, name: string): StatusError =>
  conflict(
    resource,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  )

export const badRequest = (message: string): StatusError => new StatusError(400, 'BadRequest', message)

export const forbidden = (resource: ResourceName, name: string, detail: string): StatusError =>
  new StatusError(
    403,
    'Forbidden',
    `${qualifiedResource(resource)}${name === '' ? '' : ` ${JSON.stringify(name)}`} is forbidden: ${detail}`,
    about(resource, name),
  )

export const unauthorized = (): StatusError => new StatusError(401, 'Unauthorized', 'Unauthorized')

export const methodNotAllowed = (): StatusError =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

/** Of custom resources. The verb of an unknown method is empty. */
export const verbNotSupported = (resource: ResourceName, verb: string): StatusError =>
  new StatusError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${JSON.stringify(qualifiedResource(resource))}`,
    about(resource, ''),
  )

export const expired = (message: string): StatusError => new StatusError(410, 'Expired', message)

export const tooOldResourceVersion = (asked: number, oldest: number): StatusError =>
  expired(`too old resource version: ${asked} (${oldest})`)

export const pathNotFound = (): StatusError =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {})

/** The response has no Status but this text: the path is outside the groups that the server itself defines. */
export class PageNotFound extends StatusError {
  override name = 'PageNotFound'

  constructor() {
    super(404, 'NotFound', '404 page not found')
  }
}

/**
 * The maximum length of all errors in one response. Upstream has no such bound: a long value that is part of many errors
 * would make a response of gigabytes.
 */
const errorCharactersMax = 1 << 20

/** The errors with their messages, as many as fit into a response. */
function shownErrors(errors: readonly FieldError[]): FieldError[] {
  const shown: FieldError[] = []
  let characters = 0
  for (const { reason, message, field } of errors) {
    if (characters > errorCharactersMax) break
    characters += field.length + message.length
    shown.push({ reason, message, field })
  }
  return shown
}

export function invalidObject(group: string, kind: string, name: string, errors: readonly FieldError[]): StatusError {
  const causes = shownErrors(errors)
  const texts = [...new Set(causes.map(fieldErrorText))]
  if (causes.length < errors.length) texts.push(`and ${errors.length - causes.length} more`)
  const list = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`
  const qualified = group === '' ? kind : `${kind}.${group}`
  return new StatusError(422, 'Invalid', `${qualified} ${JSON.stringify(name)} is invalid: ${list}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind,
    causes,
  })
}

/** As upstream: the error of a patched object that cannot be decoded names no object. */
export const invalidPatch = (error: FieldError): StatusError =>
  new StatusError(422, 'Invalid', ` "" is invalid: ${fieldErrorText(error)}`, { causes: [error] })
