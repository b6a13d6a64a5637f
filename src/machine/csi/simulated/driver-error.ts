// DriverError: a call that a driver rejects, with the code that CSI defines for the situation.
import type { GrpcCode } from '../../../wire/grpc/grpc-status.ts'

export class DriverError extends Error {
  override name = 'DriverError'
  readonly code: GrpcCode

  constructor(code: GrpcCode, details: string) {
    super(details)
    this.code = code
  }
}

/** Rejects an empty required field. */
export function required(value: string, field: string): string {
  if (value === '') throw new DriverError('INVALID_ARGUMENT', `${field} is missing`)
  return value
}
