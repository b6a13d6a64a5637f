// Defaults of a Job. They depend on one another, and the template of a CronJob does not get them.
import { withTemplateSpecDefaults } from '../../core/v1/pod-spec/pod-template-rules.ts'
import type { UnfinishedJob } from './job-selector.ts'
import type { JobSpec, PodFailurePolicy } from './job-spec.ts'

/** With a limit per index, the failures of the whole Job are not limited. */
const backoffLimitUnbounded = 2_147_483_647

export function withJobDefaults<T extends UnfinishedJob>(object: T): T {
  const spec = withJobSpecDefaults(withJobTemplateDefaults(object.spec))
  const { labels } = spec.template.metadata
  const isLabelled = Object.keys(object.metadata.labels ?? {}).length > 0
  return { ...object, spec, ...(isLabelled || !labels ? {} : { metadata: { ...object.metadata, labels } }) }
}

export const withJobTemplateDefaults = (spec: JobSpec): JobSpec => ({
  ...spec,
  template: withTemplateSpecDefaults(spec.template),
})

function withJobSpecDefaults(spec: JobSpec): JobSpec {
  const { podFailurePolicy } = spec
  const runsOnce = spec.completions === undefined && spec.parallelism === undefined
  return {
    parallelism: 1,
    ...(runsOnce ? { completions: 1 } : {}),
    backoffLimit: spec.backoffLimitPerIndex === undefined ? 6 : backoffLimitUnbounded,
    manualSelector: false,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed',
    ...spec,
    ...(podFailurePolicy === undefined ? {} : { podFailurePolicy: withConditionDefaults(podFailurePolicy) }),
  }
}

const withConditionDefaults = ({ rules }: PodFailurePolicy): PodFailurePolicy => ({
  rules: (rules ?? []).map((rule) =>
    rule.onPodConditions === undefined
      ? rule
      : {
          ...rule,
          onPodConditions: rule.onPodConditions.map(({ type, status }) => ({ type, status: status || 'True' })),
        },
  ),
})
