// Rules that every kind with a pod template shares: the selector must match the template, which must be a good pod.
import { invalid, notSupported, required, type FieldError } from '../../../schema/field-error.ts'
import { validateLabels } from '../../metadata.ts'
import { labelValueErrors, qualifiedNameErrors } from '../../names.ts'
import { selectorOf, matchesLabels } from '../../selectors.ts'
import { validatePodSpec, withPodSpecDefaults } from '../../core/v1/pod-rules.ts'
import type { PodTemplateSpec } from '../../core/v1/pod-template.ts'
import type { LabelSelector } from '../../meta/v1/label-selector.ts'

interface TemplateOwner {
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
}

export const withTemplateDefaults = <Spec extends TemplateOwner>(spec: Spec): Spec => ({
  ...spec,
  template: { ...spec.template, spec: withPodSpecDefaults(spec.template.spec) },
})

/** `kind` is how upstream calls the owner in its message about an empty selector. */
export function validateTemplate({ selector, template }: TemplateOwner, kind: string): FieldError[] {
  const errors = selector === undefined ? [] : validateSelector(selector, 'spec.selector')
  const requirements = selectorOf(selector)
  if (requirements?.length === 0)
    errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`))
  const labels = template.metadata.labels
  const isBroken = requirements !== undefined && (requirements.length === 0 || errors.length > 0)
  if (!isBroken && !matchesLabels(requirements ?? [{ key: '', operator: 'Exists', values: [] }], labels))
    errors.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'))
  errors.push(...validateLabels(labels ?? {}, 'spec.template.labels'))
  if (template.spec.restartPolicy !== 'Always')
    errors.push(notSupported('spec.template.spec.restartPolicy', template.spec.restartPolicy, ['Always']))
  errors.push(...validatePodSpec(template.spec, 'spec.template.spec'))
  return errors
}

function validateSelector({ matchLabels = {}, matchExpressions = [] }: LabelSelector, path: string): FieldError[] {
  const errors = validateLabels(matchLabels, `${path}.matchLabels`)
  for (const [index, { key, operator, values = [] }] of matchExpressions.entries()) {
    const at = `${path}.matchExpressions[${index}]`
    const isSet = operator === 'In' || operator === 'NotIn'
    if (isSet && values.length === 0)
      errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
    if (!isSet && !['Exists', 'DoesNotExist'].includes(operator))
      errors.push(invalid(`${at}.operator`, operator ?? '', 'not a valid selector operator'))
    for (const detail of qualifiedNameErrors(key ?? '')) errors.push(invalid(`${at}.key`, key ?? '', detail))
    for (const [position, value] of values.entries())
      for (const detail of labelValueErrors(value)) errors.push(invalid(`${at}.values[${position}]`, value, detail))
  }
  return errors
}

export const containerNames = ({ spec }: PodTemplateSpec): string => spec.containers.map(({ name }) => name).join(',')
export const containerImages = ({ spec }: PodTemplateSpec): string =>
  spec.containers.map(({ image }) => image ?? '').join(',')
