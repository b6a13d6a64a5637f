// CronJob: creates Jobs on a schedule.
import { nameWarnings, podWarnings } from '../../core/v1/pod-spec/pod-warnings.ts'
import { message, struct } from '../../../schema/descriptor/field.ts'
import type { InputOf, ObjectOf } from '../../meta/object.ts'
import { objectMetaField } from '../../meta/v1/object-meta.ts'
import { containerImages, containerNames } from '../../core/v1/pod-spec/template-owner-rules.ts'
import { ageText } from '../../columns/age.ts'
import { column, defineKind } from '../../kind/kind.ts'
import { dnsSubdomainErrors } from '../../validation/names.ts'
import { selectorText } from '../../selectors/selectors.ts'
import { validateCronJob, withCronJobDefaults } from './cron-job-rules.ts'
import { cronJobSpec, cronJobStatus } from './cron-job-spec.ts'

export const cronJobMessage = message(
  'io.k8s.api.batch.v1.CronJob',
  {
    metadata: objectMetaField,
    spec: struct(2, cronJobSpec, { required: true, description: 'The wanted state of the object.' }),
    status: struct(3, cronJobStatus, { description: 'The observed state of the object, which the cluster writes.' }),
  },
  'Creates Jobs on a schedule.',
)
export interface CronJob extends ObjectOf<typeof cronJobMessage> {}
export type CronJobInput = InputOf<typeof cronJobMessage>

const timeZoneWarning =
  'CRON_TZ or TZ used in spec.schedule is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'

export const cronJob = defineKind<CronJob, CronJobInput>({
  group: 'batch',
  version: 'v1',
  kind: 'CronJob',
  plural: 'cronjobs',
  singular: 'cronjob',
  shortNames: ['cj'],
  categories: ['all'],
  namespaced: true,
  message: cronJobMessage,
  hasStatus: true,
  countsGenerations: true,
  validateName: dnsSubdomainErrors,
  applyDefaults: (object) => ({ ...object, spec: withCronJobDefaults(object.spec) }),
  validate: ({ metadata, spec }) => validateCronJob(spec, metadata.name ?? ''),
  validateUpdate: () => [],
  warnings: (object, old) => [
    ...(old === undefined ? nameWarnings(object.metadata.name) : []),
    ...podWarnings(object.spec.jobTemplate.spec.template, 'spec.jobTemplate.spec.template.'),
    ...(/TZ=/.test(object.spec.schedule) ? [timeZoneWarning] : []),
  ],
  columns: [
    column('Name', ({ metadata }) => metadata.name, { format: 'name' }),
    column('Schedule', ({ spec }) => spec.schedule),
    column('Timezone', ({ spec }) => spec.timeZone ?? '<none>'),
    column('Suspend', ({ spec }) => suspendText(spec.suspend), { type: 'boolean' }),
    column('Active', ({ status }) => status.active?.length ?? 0, { type: 'integer' }),
    column('Last Schedule', ({ status: { lastScheduleTime: at } }, nowMs) =>
      at === undefined ? '<none>' : ageText(at, nowMs),
    ),
    column('Age', ({ metadata }, nowMs) => ageText(metadata.creationTimestamp, nowMs)),
    column('Containers', ({ spec }) => containerNames(spec.jobTemplate.spec.template), { priority: 1 }),
    column('Images', ({ spec }) => containerImages(spec.jobTemplate.spec.template), { priority: 1 }),
    column('Selector', ({ spec }) => selectorText(spec.jobTemplate.spec.selector) || '<none>', { priority: 1 }),
  ],
  fieldLabels: {},
})

const suspendText = (suspend: boolean | undefined): string =>
  suspend === undefined ? '<unset>' : suspend ? 'True' : 'False'
