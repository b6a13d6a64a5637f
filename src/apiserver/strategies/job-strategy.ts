// Job: its selector is generated from its uid.
import { withGeneratedSelector } from '../../api/batch/v1/job-selector.ts'
import { job, type Job } from '../../api/batch/v1/job.ts'
import type { Strategy } from '../registry/resource/strategy.ts'

export const jobStrategy: Strategy<Job> = {
  kind: job,
  prepareCreate: withGeneratedSelector,
  orphansDependents: {
    warning:
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  },
}
