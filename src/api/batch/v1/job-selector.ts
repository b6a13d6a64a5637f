// The selector of a Job is generated from its uid, so that two Jobs never select the same pods.
import type { ObjectMeta } from '../../meta/v1/object-meta.ts'
import type { JobSpec } from './job-spec.ts'

export interface UnfinishedJob {
  readonly metadata: ObjectMeta
  readonly spec: JobSpec
}

const prefix = 'batch.kubernetes.io/'

/** The labels that identify the pods of a Job, with the old names beside the prefixed ones. */
export const generatedLabels = ({ metadata: { uid, name } }: UnfinishedJob): Record<string, string> => ({
  'controller-uid': uid ?? '',
  'job-name': name ?? '',
  [`${prefix}controller-uid`]: uid ?? '',
  [`${prefix}job-name`]: name ?? '',
})

/** For a new Job with its uid and name. Labels that the user set are not changed; validation checks them. */
export function withGeneratedSelector<T extends UnfinishedJob>(object: T): T {
  const { metadata, spec } = object
  if (spec.manualSelector) return object
  const { selector, template } = spec
  const labels = { ...generatedLabels(object), ...template.metadata.labels }
  const name = `${prefix}controller-uid`
  const matchLabels = { [name]: metadata.uid, ...selector?.matchLabels }
  const isLabelled = Object.keys(metadata.labels ?? {}).length > 0
  return {
    ...object,
    ...(isLabelled ? {} : { metadata: { ...metadata, labels } }),
    spec: {
      ...spec,
      selector: { ...selector, matchLabels },
      template: { ...template, metadata: { ...template.metadata, labels } },
    },
  }
}
