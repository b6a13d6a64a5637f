// DeleteOptions: the body of a DELETE.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int64, list, message, string, struct } from '../../../schema/descriptor/field.ts'

export const preconditions = message('io.k8s.apimachinery.pkg.apis.meta.v1.Preconditions', {
  uid: string(1, { pointer: true }),
  resourceVersion: string(2, { pointer: true }),
})
export interface Preconditions extends Infer<typeof preconditions> {}

export const deleteOptions = message('io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', {
  gracePeriodSeconds: int64(1, { pointer: true }),
  preconditions: struct(2, preconditions, { pointer: true }),
  orphanDependents: bool(3, { pointer: true }),
  propagationPolicy: string(4, { pointer: true }),
  dryRun: list(5, 'string', { listType: 'atomic' }),
  ignoreStoreReadErrorWithClusterBreakingPotential: bool(6, { pointer: true }),
})
export interface DeleteOptions extends Infer<typeof deleteOptions> {}
