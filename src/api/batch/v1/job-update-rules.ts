// What of a Job may change: most fields are fixed, and those of its pods may change while it is suspended.
import { immutable, invalid, type FieldError } from '../../../schema/validation/field-error.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import type { Container } from '../../core/v1/container/container.ts'
import type { PodSpec } from '../../core/v1/pod-spec/pod-spec.ts'
import type { JobSpec } from './job-spec.ts'

const fixedFields = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const

/** What of a Job's status decides which fields of its pods may change. */
export interface JobProgress {
  readonly startTime?: unknown
  readonly active?: number | undefined
  readonly conditions?: readonly { readonly type: string; readonly status: string }[] | undefined
}

export function validateJobUpdate(spec: JobSpec, old: JobSpec, progress: JobProgress): FieldError[] {
  const errors: FieldError[] = []
  if (!equalValues(spec.completions, old.completions)) {
    if (spec.completionMode !== 'Indexed') errors.push(immutable('spec.completions', spec.completions))
    else if (spec.completions !== undefined && spec.completions !== spec.parallelism)
      errors.push(invalid('spec.completions', spec.completions, 'can only be modified in tandem with spec.parallelism'))
  }
  for (const name of fixedFields)
    if (!equalValues(spec[name], old[name])) errors.push(immutable(`spec.${name}`, spec[name]))
  return [...errors, ...templateErrors(spec, old, progress)]
}

/**
 * While a suspended Job has not started, the metadata, placement and resources of its pods may change; once it has stopped
 * again, only their resources.
 */
function templateErrors({ template }: JobSpec, old: JobSpec, progress: JobProgress): FieldError[] {
  const isWaiting = old.suspend === true && progress.startTime === undefined
  if (isWaiting) {
    const [now, before] = [template.spec, old.template.spec].map((spec) => withoutResources(withoutPlacement(spec)))
    return equalValues(now, before) ? [] : [immutable('spec.template.spec', template.spec)]
  }
  const [now, before] = [template, old.template].map((each) =>
    hasStopped(old, progress) ? { ...each, spec: withoutResources(each.spec) } : each,
  )
  return equalValues(now, before) ? [] : [immutable('spec.template', template)]
}

const hasStopped = ({ suspend }: JobSpec, { active = 0, conditions = [] }: JobProgress): boolean =>
  suspend === true && active === 0 && conditions.some(({ type, status }) => type === 'Suspended' && status === 'True')

function withoutPlacement(template: PodSpec): PodSpec {
  const { nodeSelector: _, tolerations: __, schedulingGates: ___, affinity, ...spec } = template
  const { nodeAffinity: ____, ...others } = affinity ?? {}
  return Object.keys(others).length === 0 ? spec : { ...spec, affinity: others }
}

function withoutResources(spec: PodSpec): PodSpec {
  const without = (container: Container): Container => ({ ...container, resources: {} })
  const { initContainers } = spec
  return {
    ...spec,
    containers: spec.containers.map(without),
    ...(initContainers === undefined ? {} : { initContainers: initContainers.map(without) }),
  }
}
