// Status: the response to a request without an object, in particular to a failed one.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int32, int64, list, message, string, struct } from '../../../schema/descriptor/field.ts'

export const shardInfo = message('io.k8s.apimachinery.pkg.apis.meta.v1.ShardInfo', {
  selector: string(1, { required: true }),
})
export interface ShardInfo extends Infer<typeof shardInfo> {}

export const listMeta = message('io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta', {
  selfLink: string(1),
  resourceVersion: string(2),
  continue: string(3),
  remainingItemCount: int64(4, { pointer: true }),
  shardInfo: struct(5, shardInfo, { pointer: true }),
})
export interface ListMeta extends Infer<typeof listMeta> {}

export const statusCause = message('io.k8s.apimachinery.pkg.apis.meta.v1.StatusCause', {
  reason: string(1),
  message: string(2),
  field: string(3),
})
export interface StatusCause extends Infer<typeof statusCause> {}

export const statusDetails = message('io.k8s.apimachinery.pkg.apis.meta.v1.StatusDetails', {
  name: string(1),
  group: string(2),
  kind: string(3),
  causes: list(4, statusCause, { listType: 'atomic' }),
  retryAfterSeconds: int32(5),
  uid: string(6),
})
export interface StatusDetails extends Infer<typeof statusDetails> {}

export const status = message('io.k8s.apimachinery.pkg.apis.meta.v1.Status', {
  metadata: struct(1, listMeta),
  status: string(2),
  message: string(3),
  reason: string(4),
  details: struct(5, statusDetails, { pointer: true }),
  code: int32(6),
})
export interface Status extends Infer<typeof status> {}
