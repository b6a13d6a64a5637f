// LimitRange: without a name it is named after its uid.
import { limitRange, type LimitRange } from '../../api/core/v1/quota/limit-range.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

export const limitRangeStrategy: Strategy<LimitRange> = {
  kind: limitRange,
  prepareCreate: (object) =>
    object.metadata.name ? object : { ...object, metadata: { ...object.metadata, name: object.metadata.uid } },
}
