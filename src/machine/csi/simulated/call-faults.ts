// Faults that a test injects into the calls of a driver. A fault is plain data, so that a test can give it to a driver
// process in a file.
import type { GrpcCode } from '../../../wire/grpc/grpc-status.ts'

export interface CallFault {
  /** The name of a method, such as `CreateVolume`; `*` for every method. */
  readonly method: string
  /** Before or after the call has been performed. */
  readonly when: 'before' | 'after'
  readonly action: FaultAction
  /** How many calls it concerns; all if it is left out. */
  readonly times?: number
}

export type FaultAction =
  | { readonly kind: 'fail'; readonly code: GrpcCode; readonly message: string }
  /** The call is never answered. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** The driver exits; its records remain. */
  | { readonly kind: 'exit' }

export interface TakenFault {
  readonly fault: CallFault | undefined
  /** The faults for later calls. */
  readonly rest: readonly CallFault[]
}

/** The first fault that concerns the call. */
export function takeFault(faults: readonly CallFault[], method: string, when: CallFault['when']): TakenFault {
  const index = faults.findIndex((fault) => fault.when === when && (fault.method === '*' || fault.method === method))
  const fault = faults[index]
  if (fault?.times === undefined) return { fault, rest: faults }
  const left = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
  return { fault, rest: faults.toSpliced(index, 1, ...left) }
}
