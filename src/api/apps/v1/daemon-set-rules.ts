// Rules of a DaemonSet: its update strategy, and the template generation that old clients read from an annotation.
import { append } from '../../../base/collections/append.ts'
import { invalid, notSupported, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { resolveCount, validateCountOrPercent } from '../../validation/count-or-percent.ts'
import { validatePercentLimit } from '../../validation/percent-limit.ts'
import type { ObjectMeta } from '../../meta/v1/object-meta.ts'
import type { DaemonSetSpec, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from './daemon-set-spec.ts'
import { validateTemplate, withTemplateDefaults } from '../../core/v1/pod-spec/template-owner-rules.ts'

export const templateGenerationAnnotation = 'deprecated.daemonset.template.generation'

export const withTemplateGeneration = (metadata: ObjectMeta): ObjectMeta => ({
  ...metadata,
  annotations: { [templateGenerationAnnotation]: '1', ...metadata.annotations },
})

export function withDaemonSetDefaults(sent: DaemonSetSpec): DaemonSetSpec {
  const spec = withTemplateDefaults(sent)
  const { updateStrategy } = spec
  if (updateStrategy.type !== 'RollingUpdate' || updateStrategy.rollingUpdate !== undefined) return spec
  return { ...spec, updateStrategy: { ...updateStrategy, rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } }
}

export const validateDaemonSet = (spec: DaemonSetSpec): FieldError[] => [
  ...validateTemplate(spec, 'daemonset'),
  ...validateUpdateStrategy(spec.updateStrategy, 'spec.updateStrategy'),
]

function validateUpdateStrategy({ type, rollingUpdate }: DaemonSetUpdateStrategy, path: string): FieldError[] {
  if (type === 'OnDelete') return []
  if (type === 'RollingUpdate')
    return rollingUpdate === undefined
      ? [required(`${path}.rollingUpdate`)]
      : validateRollingUpdate(rollingUpdate, `${path}.rollingUpdate`)
  return [notSupported(path, { Type: type, RollingUpdate: inGoNames(rollingUpdate) }, ['RollingUpdate', 'OnDelete'])]
}

// Messages show this struct with Go's field names.
const inGoNames = (rollingUpdate: DaemonSetUpdateStrategy['rollingUpdate']) =>
  rollingUpdate === undefined
    ? null
    : { MaxUnavailable: rollingUpdate.maxUnavailable, MaxSurge: rollingUpdate.maxSurge }

// A node has one pod of the set, or two during a replacement: exactly one of the bounds may be above zero.
function validateRollingUpdate({ maxUnavailable, maxSurge }: RollingUpdateDaemonSet, path: string): FieldError[] {
  const errors: FieldError[] = []
  const hasUnavailable = isAboveZero(maxUnavailable)
  const hasSurge = isAboveZero(maxSurge)
  if (hasUnavailable && hasSurge)
    errors.push(invalid(`${path}.maxSurge`, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  if (!hasUnavailable && !hasSurge) errors.push(required(`${path}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'))
  for (const [name, value] of Object.entries({ maxUnavailable, maxSurge }))
    append(errors, [
      ...validateCountOrPercent(value, `${path}.${name}`),
      ...validatePercentLimit(value, `${path}.${name}`),
    ])
  return errors
}

const isAboveZero = (value: number | string): boolean => resolveCount(value, 100, 'up') > 0
