// DaemonSet: it counts the versions of its template in an annotation that its controller and older clients read.
import { daemonSet, type DaemonSet } from '../../api/apps/v1/daemon-set.ts'
import { templateGenerationAnnotation } from '../../api/apps/v1/daemon-set-rules.ts'
import { equalValues } from '../../schema/json/json-value.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

export const daemonSetStrategy: Strategy<DaemonSet> = {
  kind: daemonSet,
  prepareUpdate(object, old) {
    const before = old.metadata.annotations?.[templateGenerationAnnotation] ?? '1'
    const isChanged = !equalValues(object.spec.template, old.spec.template)
    const generation = isChanged ? String(Number(before) + 1) : before
    const annotations = { ...object.metadata.annotations, [templateGenerationAnnotation]: generation }
    return { ...object, metadata: { ...object.metadata, annotations } }
  },
}
