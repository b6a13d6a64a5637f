// CronJobSpec and CronJobStatus.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { bool, int32, int64, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import { jobSpec } from './job-spec.ts'
import { objectReference } from '../../core/v1/references.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const jobTemplateSpec = message('io.k8s.api.batch.v1.JobTemplateSpec', {
  metadata: struct(1, objectMeta, { description: 'Labels and annotations of the Jobs.' }),
  spec: struct(2, jobSpec, { description: 'The specification of the Jobs.' }),
})
export interface JobTemplateSpec extends Infer<typeof jobTemplateSpec> {}

export const cronJobSpec = message('io.k8s.api.batch.v1.CronJobSpec', {
  schedule: string(1, { required: true, notEmpty: true, description: 'The schedule in cron format.' }),
  startingDeadlineSeconds: int64(2, {
    pointer: true,
    minimum: 0,
    description: 'How many seconds late a Job may be started; without a limit by default.',
  }),
  concurrencyPolicy: string(3, {
    default: 'Allow',
    enum: ['Allow', 'Forbid', 'Replace'],
    description: 'What to do when the last Job is still running: Allow (the default), Forbid or Replace.',
  }),
  suspend: bool(4, { pointer: true, default: false, description: 'Whether the schedule is suspended.' }),
  jobTemplate: struct(5, jobTemplateSpec, { required: true, description: 'The template of the Jobs.' }),
  successfulJobsHistoryLimit: int32(6, {
    pointer: true,
    default: 3,
    minimum: 0,
    description: 'How many successful Jobs are retained; 3 by default.',
  }),
  failedJobsHistoryLimit: int32(7, {
    pointer: true,
    default: 1,
    minimum: 0,
    description: 'How many failed Jobs are retained; 1 by default.',
  }),
  timeZone: string(8, { pointer: true, description: 'The time zone of the schedule.' }),
})
export interface CronJobSpec extends Infer<typeof cronJobSpec> {}

export const cronJobStatus = message('io.k8s.api.batch.v1.CronJobStatus', {
  active: list(1, objectReference, { listType: 'atomic', description: 'The running Jobs.' }),
  lastScheduleTime: time(4, { pointer: true, description: 'When a Job was last scheduled.' }),
  lastSuccessfulTime: time(5, { pointer: true, description: 'When a Job last succeeded.' }),
})
export interface CronJobStatus extends Infer<typeof cronJobStatus> {}
