// Rules of a pod template without a selector: valid labels and a valid pod without ephemeral containers.
import { forbidden, type FieldError } from '../../../../schema/validation/field-error.ts'
import { validateLabels } from '../../../validation/metadata-rules.ts'
import { validatePodSpec, withPodSpecDefaults } from './pod-spec-rules.ts'
import type { PodTemplateSpec } from './pod-template-spec.ts'

export const withTemplateSpecDefaults = (template: PodTemplateSpec): PodTemplateSpec => ({
  ...template,
  spec: withPodSpecDefaults(template.spec),
})

export function validateTemplateSpec({ metadata, spec }: PodTemplateSpec, path: string): FieldError[] {
  const errors = [...validateLabels(metadata.labels ?? {}, `${path}.labels`), ...validatePodSpec(spec, `${path}.spec`)]
  if ((spec.ephemeralContainers ?? []).length > 0)
    errors.push(forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template'))
  return errors
}
