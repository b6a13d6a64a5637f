import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { BodyTooLarge, Overloaded } from '../../platform/http/listener.ts'
import { StoreUnavailable, TransactionTooLarge } from '../../store/store.ts'
import { isExpectedError, statusErrorOf } from './error-status.ts'

const table: [error: Error, code: number, reason: string, retryAfterSeconds: number | undefined, isKnown: boolean][] = [
  [new BodyTooLarge('too large'), 413, 'RequestEntityTooLarge', undefined, true],
  [new Overloaded('too much'), 429, 'TooManyRequests', 1, true],
  [new URIError('no path'), 400, 'BadRequest', undefined, true],
  [new StoreUnavailable('no store'), 503, 'ServiceUnavailable', 1, true],
  [new TransactionTooLarge(), 500, '', undefined, true],
  [new Error('a bug'), 500, 'InternalError', undefined, false],
]
for (const [error, code, reason, retryAfterSeconds, isKnown] of table)
  test(`${error.name} has the status ${code}`, () => {
    const status = statusErrorOf(error)
    deepEqual(
      [status.code, status.reason, status.details?.retryAfterSeconds, isExpectedError(error)],
      [code, reason, retryAfterSeconds, isKnown],
    )
  })
