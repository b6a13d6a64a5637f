// Rules that every kind with a pod template shares: the selector must match the template, which must be a good pod.
import { lookup } from '../../../../base/collections/lookup.ts'
import { forbidden, invalid, notSupported, type FieldError } from '../../../../schema/validation/field-error.ts'
import { sentMap } from '../../../../schema/decoding/decode.ts'
import { validateLabelSelector } from '../../../validation/label-selector-rules.ts'
import { selectorOf, matchesLabels } from '../../../selectors/selectors.ts'
import { validateTemplateSpec, withTemplateSpecDefaults } from './pod-template-rules.ts'
import type { PodSpec } from './pod-spec.ts'
import type { PodTemplateSpec } from './pod-template-spec.ts'
import type { LabelSelector } from '../../../meta/v1/label-selector.ts'

interface TemplateOwner {
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
}

export const withTemplateDefaults = <Spec extends TemplateOwner>(spec: Spec): Spec => ({
  ...spec,
  template: withTemplateSpecDefaults(spec.template),
})

/**
 * `kind` is how upstream calls the owner in its message about an empty selector; `further` is what the kind finds about
 * the two, which stands before what is wrong with the pod.
 */
export function validateTemplate(
  { selector, template }: TemplateOwner,
  kind: string,
  further: readonly FieldError[] = [],
): FieldError[] {
  const errors = selector === undefined ? [] : validateLabelSelector(selector, 'spec.selector')
  const requirements = selectorOf(selector)
  if (requirements?.length === 0)
    errors.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`))
  const labels = template.metadata.labels
  const isBroken = requirements !== undefined && (requirements.length === 0 || errors.length > 0)
  if (!isBroken && !matchesLabels(requirements ?? [{ key: '', operator: 'Exists', values: [] }], labels))
    errors.push(
      invalid(
        'spec.template.metadata.labels',
        sentMap(template.metadata, 'labels'),
        '`selector` does not match template `labels`',
      ),
    )
  return [
    ...errors,
    ...further,
    ...validateTemplateSpec(template, 'spec.template'),
    ...validateReplicaPod(template.spec, kind),
  ]
}

/** How upstream calls the owner when it refuses a deadline; a Deployment's pods are a ReplicaSet's. */
const deadlineOwners: Readonly<Record<string, string>> = { daemonset: 'DaemonSet', statefulset: 'StatefulSet' }

/** A pod that is to run for ever, which is what a controller of replicas keeps. */
function validateReplicaPod({ restartPolicy, activeDeadlineSeconds }: PodSpec, kind: string): FieldError[] {
  const path = 'spec.template.spec'
  const errors: FieldError[] = []
  if (restartPolicy !== 'Always') errors.push(notSupported(`${path}.restartPolicy`, restartPolicy, ['Always']))
  if (activeDeadlineSeconds !== undefined)
    errors.push(
      forbidden(
        `${path}.activeDeadlineSeconds`,
        `activeDeadlineSeconds in ${lookup(deadlineOwners, kind) ?? 'ReplicaSet'} is not Supported`,
      ),
    )
  return errors
}

export const containerNames = ({ spec }: PodTemplateSpec): string => spec.containers.map(({ name }) => name).join(',')
export const containerImages = ({ spec }: PodTemplateSpec): string =>
  spec.containers.map(({ image }) => image ?? '').join(',')
