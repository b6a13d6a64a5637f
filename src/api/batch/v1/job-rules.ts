// Rules of a Job: counts that depend on each other, the generated selector, and what may change later.
import { lookup } from '../../../base/collections/lookup.ts'
import { append } from '../../../base/collections/append.ts'
import { sentMap } from '../../../schema/decoding/decode.ts'
import { invalid, notSupported, required, tooLong, type FieldError } from '../../../schema/validation/field-error.ts'
import { validateTemplateSpec } from '../../core/v1/pod-spec/pod-template-rules.ts'
import { validateDomainPrefixedPath } from '../../validation/domain-prefixed-path.ts'
import { validateLabelSelector } from '../../validation/label-selector-rules.ts'
import { dnsLabelErrors } from '../../validation/names.ts'
import { selects } from '../../selectors/selectors.ts'
import { validatePodFailurePolicy, validateSuccessPolicy } from './job-policies.ts'
import { generatedLabels, type UnfinishedJob } from './job-selector.ts'
import type { JobSpec } from './job-spec.ts'

const managedByBytesMax = 63
const indexedParallelismMax = 100_000
const failedIndexesMax = 100_000
/** Above this number of completions, the failures per index have a lower limit. */
const completionsSoftMax = 100_000
const boundWhenManyCompletions = 10_000

export function validateJob(object: UnfinishedJob): FieldError[] {
  const { spec, metadata } = object
  const errors = [...validateGeneratedSelector(object), ...validateJobSpec(spec, 'spec')]
  if (spec.selector === undefined) {
    if (spec.manualSelector) errors.push(required('spec.selector'))
  } else {
    const broken = validateLabelSelector(spec.selector, 'spec.selector')
    append(errors, broken)
    const { labels } = spec.template.metadata
    if (broken.length === 0 && !selects(spec.selector, labels))
      errors.push(
        invalid(
          'spec.template.metadata.labels',
          sentMap(spec.template.metadata, 'labels'),
          '`selector` does not match template `labels`',
        ),
      )
  }
  if (spec.completionMode === 'Indexed' && spec.completions !== undefined && spec.completions > 0) {
    const name = metadata.name ?? ''
    const hostname = `${name}-${spec.completions - 1}`
    if (dnsLabelErrors(hostname).length > 0)
      errors.push(invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${hostname}`))
  }
  return errors
}

function validateGeneratedSelector(object: UnfinishedJob): FieldError[] {
  const { selector, manualSelector, template } = object.spec
  if (manualSelector || selector === undefined) return []
  const expected = generatedLabels(object)
  const labels = template.metadata.labels ?? {}
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(expected)) {
    const at = `spec.template.metadata.labels[${name}]`
    if (lookup(labels, name) === undefined) errors.push(required(at, `must be '${value}'`))
    else if (lookup(labels, name) !== value) errors.push(invalid(at, labels, `must be '${value}'`))
  }
  if (!selects(selector, expected)) errors.push(invalid('spec.selector', selector, '`selector` not auto-generated'))
  return errors
}

/** The rules that also apply to the template of a CronJob. */
export function validateJobSpec(spec: JobSpec, path: string): FieldError[] {
  const { maxFailedIndexes, backoffLimitPerIndex, managedBy, completionMode } = spec
  const errors: FieldError[] = []
  if (maxFailedIndexes !== undefined && backoffLimitPerIndex === undefined)
    errors.push(required(`${path}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'))
  if (managedBy !== undefined) {
    append(errors, validateDomainPrefixedPath(managedBy, `${path}.managedBy`))
    if (managedBy.length > managedByBytesMax) errors.push(tooLong(`${path}.managedBy`, managedByBytesMax))
  }
  if (completionMode === 'Indexed') append(errors, validateIndexed(spec, path))
  else if (completionMode === undefined || completionMode === 'NonIndexed')
    append(errors, validateNonIndexed(spec, path))
  if (spec.podFailurePolicy !== undefined) append(errors, validatePodFailurePolicy(spec, `${path}.podFailurePolicy`))
  if (spec.successPolicy !== undefined)
    append(
      errors,
      completionMode === 'Indexed'
        ? validateSuccessPolicy(spec, `${path}.successPolicy`)
        : [invalid(`${path}.successPolicy`, spec.successPolicy, 'requires indexed completion mode')],
    )
  return [...errors, ...validatePodReplacement(spec, path), ...validatePodTemplate(spec, path)]
}

function validateIndexed(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism = 0, maxFailedIndexes, backoffLimitPerIndex } = spec
  const errors: FieldError[] = []
  if (completions === undefined) errors.push(required(`${path}.completions`, 'when completion mode is Indexed'))
  if (parallelism > indexedParallelismMax)
    errors.push(atMost(`${path}.parallelism`, parallelism, indexedParallelismMax, 'when completion mode is Indexed'))
  const failedPath = `${path}.maxFailedIndexes`
  if (maxFailedIndexes !== undefined && completions !== undefined && maxFailedIndexes > completions)
    errors.push(invalid(failedPath, maxFailedIndexes, 'must be less than or equal to completions'))
  if (maxFailedIndexes !== undefined && maxFailedIndexes > failedIndexesMax)
    errors.push(atMost(failedPath, maxFailedIndexes, failedIndexesMax))
  if (completions === undefined || completions <= completionsSoftMax || backoffLimitPerIndex === undefined)
    return errors
  const why = `when completions are above ${completionsSoftMax} and used with backoff limit per index`
  if (maxFailedIndexes === undefined)
    errors.push(required(failedPath, `must be specified when completions is above ${completionsSoftMax}`))
  if (parallelism > boundWhenManyCompletions)
    errors.push(atMost(`${path}.parallelism`, parallelism, boundWhenManyCompletions, why))
  if (maxFailedIndexes !== undefined && maxFailedIndexes > boundWhenManyCompletions)
    errors.push(atMost(failedPath, maxFailedIndexes, boundWhenManyCompletions, why))
  return errors
}

const atMost = (path: string, value: number, max: number, why = ''): FieldError =>
  invalid(path, value, `must be less than or equal to ${max} ${why}`.trimEnd())

const validateNonIndexed = (spec: JobSpec, path: string): FieldError[] =>
  (['backoffLimitPerIndex', 'maxFailedIndexes'] as const).flatMap((name) =>
    spec[name] === undefined ? [] : [invalid(`${path}.${name}`, spec[name], 'requires indexed completion mode')],
  )

function validatePodReplacement(
  { podReplacementPolicy: policy, podFailurePolicy }: JobSpec,
  path: string,
): FieldError[] {
  const supported = podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed']
  return policy === undefined || supported.includes(policy)
    ? []
    : [notSupported(`${path}.podReplacementPolicy`, policy, supported)]
}

function validatePodTemplate({ template, podFailurePolicy }: JobSpec, path: string): FieldError[] {
  const at = `${path}.template.spec.restartPolicy`
  const { restartPolicy } = template.spec
  const errors = validateTemplateSpec(template, `${path}.template`)
  // Always is also the default of an absent policy, hence the error "required".
  if (restartPolicy === 'Always') errors.push(required(at, 'valid values: "OnFailure", "Never"'))
  else if (restartPolicy !== 'OnFailure' && restartPolicy !== 'Never')
    errors.push(notSupported(at, restartPolicy, ['OnFailure', 'Never']))
  else if (podFailurePolicy !== undefined && restartPolicy !== 'Never')
    errors.push(invalid(at, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified'))
  return errors
}
