// Faults that a test injects into the operations of the simulated cloud.

export const cloudOperations = [
  'CreateRoute',
  'DeleteLoadBalancer',
  'DeleteRoute',
  'EnsureLoadBalancer',
  'FindInstance',
  'FindLoadBalancer',
  'ListRoutes',
  'UpdateLoadBalancer',
] as const
export type CloudOperation = (typeof cloudOperations)[number]

export interface CloudFault {
  readonly operation: CloudOperation
  readonly action:
    | { readonly kind: 'fail'; readonly message: string }
    /** The operation is performed, and its answer is lost. */
    | { readonly kind: 'lose'; readonly message: string }
    | { readonly kind: 'delay'; readonly ms: number }
    /** The operation is not answered before the caller gives up. */
    | { readonly kind: 'hang' }
  /** How many operations it concerns; all until `heal()` if it is left out. */
  readonly times?: number
}

/** The first fault that concerns the operation, and the faults for later ones. */
export function takeFault(
  faults: readonly CloudFault[],
  operation: CloudOperation,
): { readonly fault: CloudFault | undefined; readonly rest: readonly CloudFault[] } {
  const index = faults.findIndex((fault) => fault.operation === operation)
  const fault = faults[index]
  if (fault?.times === undefined) return { fault, rest: faults }
  const left = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
  return { fault, rest: faults.toSpliced(index, 1, ...left) }
}
