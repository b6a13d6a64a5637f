// Rules of a ReplicationController: its selector and labels default to the labels of its template.
import { append } from '../../../../base/collections/append.ts'
import { sentMap } from '../../../../schema/decoding/decode.ts'
import {
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../../schema/validation/field-error.ts'
import { matchesLabels, selectorOf } from '../../../selectors/selectors.ts'
import { validateTemplateSpec, withTemplateSpecDefaults } from '../pod-spec/pod-template-rules.ts'
import type { ObjectMeta } from '../../../meta/v1/object-meta.ts'
import type { ReplicationControllerSpec } from './replication-controller-spec.ts'

interface Controller {
  readonly metadata: ObjectMeta
  readonly spec: ReplicationControllerSpec
}

export function withControllerDefaults<T extends Controller>(object: T): T {
  const { metadata, spec } = object
  if (spec.template === undefined) return object
  const template = withTemplateSpecDefaults(spec.template)
  const { labels } = template.metadata
  if (labels === undefined) return { ...object, spec: { ...spec, template } }
  return {
    ...object,
    metadata: { ...metadata, labels: metadata.labels ?? labels },
    spec: { ...spec, selector: spec.selector ?? labels, template },
  }
}

export function validateControllerSpec(
  { selector = {}, template }: ReplicationControllerSpec,
  path: string,
): FieldError[] {
  const isEmpty = Object.keys(selector).length === 0
  const errors = isEmpty ? [required(`${path}.selector`)] : []
  if (template === undefined) return [...errors, required(`${path}.template`)]
  const { metadata, spec } = template
  if (!isEmpty && !matchesLabels(selectorOf({ matchLabels: selector }) ?? [], metadata.labels))
    errors.push(
      invalid(
        `${path}.template.metadata.labels`,
        sentMap(metadata, 'labels'),
        '`selector` does not match template `labels`',
      ),
    )
  append(errors, validateTemplateSpec(template, `${path}.template`))
  if (spec.restartPolicy !== 'Always')
    errors.push(notSupported(`${path}.template.spec.restartPolicy`, spec.restartPolicy, ['Always']))
  if (spec.activeDeadlineSeconds !== undefined)
    errors.push(
      forbidden(
        `${path}.template.spec.activeDeadlineSeconds`,
        'activeDeadlineSeconds in ReplicationController is not Supported',
      ),
    )
  return errors
}
