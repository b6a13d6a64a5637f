// PodTemplateSpec: the template of the pods that a controller creates.
import type { Infer } from '../../../../schema/descriptor/infer.ts'
import { message, struct } from '../../../../schema/descriptor/field.ts'
import { podSpec } from './pod-spec.ts'
import { objectMeta } from '../../../meta/v1/object-meta.ts'

export const podTemplateSpec = message('io.k8s.api.core.v1.PodTemplateSpec', {
  metadata: struct(1, objectMeta, { description: 'Labels and annotations of the pods.' }),
  spec: struct(2, podSpec, { description: 'The specification of the pods.' }),
})
export interface PodTemplateSpec extends Infer<typeof podTemplateSpec> {}
