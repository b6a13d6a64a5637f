// Rules of all kinds with a pod template: the selector must match the template, and the template must be a valid pod.
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
 * `kind` is upstream's name of the owner in its message about an empty selector. `further` are errors of the kind about
 * selector and template, which are listed before the errors of the pod.
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

/** Upstream's names of the owner when it rejects a deadline. A Deployment uses those of a ReplicaSet. */
const deadlineOwners: Readonly<Record<string, string>> = { daemonset: 'DaemonSet', statefulset: 'StatefulSet' }

/** Pods of a workload with replicas must always restart and have no deadline. */
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
